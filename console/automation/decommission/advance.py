"""One beat of a decommission: gather facts, decide, do, write. It may come twice or not at all."""

from functools import partial

from django.conf import settings

from console.automation.decommission.actions import do_drain
from console.automation.decommission.decide import DecommissionDecision, DecommissionFacts, DecommissionStep, decide
from console.automation.decommission.models import Decommission
from console.cluster.placement.models import OPEN, OngoingMove, Reassignment
from console.cluster.placement.moving import drain_proposal, partitions_on, planned
from console.cluster.placement.sentences import count_of
from console.kit.access.log_tail import without_last_line
from console.kit.access.reach import Resource
from console.kit.access.rights import reach_of
from console.kit.common.clock import now_ms
from console.kit.gateway.errors import GatewayError
from console.kit.operations.rows import settle
from console.kit.plans.plan import NotConfirmedError
from console.processes.access import may_still_operate
from console.processes.actions import do_remove
from console.processes.models import ManagedProcess
from console.processes.preconditions import replicas_of
from console.state.clusters.queries import cluster_state

State = Decommission.State


def advance(decommission: Decommission) -> None:
    """Take the next step; a cluster that does not answer is asked again by the next beat."""
    process = ManagedProcess.objects.filter(name=decommission.name).first()
    facts = _facts(decommission, process)
    decision = decide(facts)
    values: dict[str, object] = {"sentence": decision.sentence, "left": facts.left}
    values["held"] = max(decommission.held, facts.left)
    try:
        values |= _do(decommission, decision)
    except GatewayError as error:
        values["sentence"] = f"Waits: {error}"
    except NotConfirmedError as error:
        values |= _paused(str(error))
    is_end = values.get("is_stopping")
    # Called off meanwhile it stays so, and its broker too: both are written, or neither.
    settle(decommission, values, partial(do_remove, decommission.actor, process) if is_end and process else None)


def _facts(decommission: Decommission, process: ManagedProcess | None) -> DecommissionFacts:
    state = cluster_state()
    return DecommissionFacts(
        is_paused=decommission.state == State.PAUSED,
        is_stopping=decommission.is_stopping,
        now_ms=now_ms(),
        seen_at_ms=0 if state.topics_error else state.topics_at_ms,
        held=decommission.held,
        left=partitions_on(decommission.broker_id),
        is_moving=Reassignment.objects.filter(state__in=OPEN).exists() or OngoingMove.objects.exists(),
        is_managed=process is not None,
        process=without_last_line(process.state_sentence) if process else "",
    )


def _do(decommission: Decommission, decision: DecommissionDecision) -> dict[str, object]:
    """Carry out the decision and return changed columns, unless another process was quicker. Raises GatewayError,
    NotConfirmedError.
    """
    if decision.do in (DecommissionStep.DRAIN, DecommissionStep.REMOVE) and not _may_go_on(decommission):
        return _paused(f"{decommission.whose} has lost the right to this. A user with the right can resume it.")
    match decision.do:
        case DecommissionStep.FINISH:
            return {"state": State.DONE}
        case DecommissionStep.REMOVE:
            if held := replicas_of(decommission.broker_id):
                return {"sentence": f"Waits: the cluster says that it still holds {len(held):,} replicas."}
            return {"is_stopping": True}
        case DecommissionStep.DRAIN:
            return _drain(decommission)
    return {}


def _paused(why: str) -> dict[str, object]:
    return {"state": State.PAUSED, "sentence": f"Paused: {why}"}


def _may_go_on(decommission: Decommission) -> bool:
    actor = decommission.actor
    if not may_still_operate(actor, [decommission.name]):
        return False
    return not reach_of(actor).is_limited(Resource.TOPIC)


def _drain(decommission: Decommission) -> dict[str, object]:
    proposal = drain_proposal(decommission.broker_id)
    if not proposal.targets and not proposal.stuck:
        return {"sentence": "Waits for the next look at the partitions."}
    if not proposal.targets:
        why = next(iter(proposal.stuck.values()))
        return _paused(f"{count_of(len(proposal.stuck), 'partition')} cannot move elsewhere. {why}")
    do_drain(decommission, planned(proposal.targets, decommission.rate), settings.BOOTSTRAP_SERVERS)
    return {}
