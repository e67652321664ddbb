"""Electing preferred leaders: one request to the controller, one audit row, whatever the answer."""

from console.audit.record import record_event
from console.gateway.connect import cluster_gateway
from console.gateway.errors import GatewayError, RefusedError
from console.placement.election import ElectionPlan

#: Partitions named in the audit row; beyond it their number.
NAMED_MAX = 50


def do_elect_preferred_leaders(actor, plan: ElectionPlan) -> dict[tuple[str, int], str]:
    """Elect as planned; what was refused, with why. Raises GatewayError if nothing could be asked."""
    before = _leaders({each.name: each.leader for each in plan.moves})
    after = _leaders({each.name: each.preferred for each in plan.moves})
    try:
        refused = cluster_gateway().elect_preferred_leaders([(each.topic, each.partition) for each in plan.moves])
    except GatewayError as error:
        result = "refused" if isinstance(error, RefusedError) else "failed"
        _record(actor, before, after, result, str(error))
        raise
    detail = "; ".join(f"{topic}-{partition}: {why}" for (topic, partition), why in sorted(refused.items()))
    _record(actor, before, after, "refused" if len(refused) == len(plan.moves) else "done", detail)
    return refused


def _record(actor, before: dict, after: dict, result: str, detail: str) -> None:
    record_event(actor, "elect preferred leaders", "cluster", "all topics", before, after, result, detail)


def _leaders(leaders: dict[str, int | None]) -> dict:
    named = dict(list(leaders.items())[:NAMED_MAX])
    more = len(leaders) - len(named)
    return {**named, "more partitions": more} if more else named
