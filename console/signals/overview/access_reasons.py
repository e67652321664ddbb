"""Clients that are denied something, and leaders that lie on one broker, as sentences. Pure."""

from collections.abc import Iterable, Sequence

from console.cluster.acls.denied import DeniedClient
from console.cluster.brokers.leader_skew import LeaderSkew
from console.kit.common.figures import grouped
from console.kit.gateway.acls.interface import kafka_name
from console.signals.overview.health import HealthLevel, HealthReason
from console.signals.overview.next_action import NextAction

#: Clients with a reason of their own; the rest are counted in one.
NAMED_MAX = 4
_NAME_LENGTH_MAX = 60


def denial_reasons(denied: Sequence[DeniedClient]) -> Iterable[HealthReason]:
    yield from map(_denied, denied[:NAMED_MAX])
    if (more := len(denied) - NAMED_MAX) > 0:
        text = f"{more} more client{' is' if more == 1 else 's are'} denied access."
        action = NextAction("See the denials", "acl-denials")
        yield HealthReason(HealthLevel.WARNING, "Denied clients", text, action, key="more denied", weight=more)


def _denied(client: DeniedClient) -> HealthReason:
    principal = _short(client.principal)
    what = " ".join(filter(None, [client.resource.lower().replace("_", " "), _short(client.name)]))
    text = f"{principal} is denied {kafka_name(client.operation)} on {what}: no ACL allows it, or one denies it."
    action = NextAction("See which rule decides, then add the rule that it needs", "acl-denials")
    evidence = f"{grouped(client.recent)} denial{_s(client.recent)} in the last minute"
    key = f"denied:{client.principal[:200]}:{client.operation}:{client.resource}:{client.name[:249]}"
    return HealthReason(HealthLevel.WARNING, principal, text, action, evidence, client.since_ms, key)


def skew_reasons(skew: LeaderSkew | None) -> Iterable[HealthReason]:
    if skew is None:
        return
    text = (
        f"Broker {skew.broker_id} leads {grouped(skew.leads)} of {grouped(skew.total)} partitions, "
        f"{skew.times_even:.1f} times its even share: it serves the clients of all of them."
    )
    if skew.is_mended_by_election:
        action = NextAction("Elect the preferred leaders", "elect-leaders")
    else:
        action = NextAction("Move partitions, so that their first replicas are spread", "placement")
    if skew.misplaced:
        evidence = f"{grouped(skew.misplaced)} partition{_s(skew.misplaced)} not led by the preferred replica"
    else:
        evidence = "Every partition is led by its preferred replica"
    yield HealthReason(HealthLevel.WARNING, f"Broker {skew.broker_id}", text, action, evidence, key="leader skew")


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH_MAX else f"{name[:_NAME_LENGTH_MAX]}…"
