"""One beat of a departure: gather facts, decide, do, write, push. It may come twice or not at all."""

import logging

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from console.access.last_line import without_last_line
from console.access.reach import Resource
from console.access.rights import reach_of
from console.clusters.queries import cluster_state
from console.common.clock import now_ms
from console.decommission.actions import do_drain
from console.decommission.announce import push_departure
from console.decommission.decide import Decision, Do, Facts, decide
from console.decommission.models import Departure
from console.gateway.errors import GatewayError
from console.placement.models import OPEN, OngoingMove, Reassignment
from console.placement.moving import drain_proposal, partitions_on, planned
from console.placement.sentences import count_of
from console.plans.plan import NotConfirmedError
from console.processes.access import may_still_operate
from console.processes.actions import do_remove
from console.processes.models import ManagedProcess
from console.processes.preconditions import replicas_of

logger = logging.getLogger(__name__)
State = Departure.State


def advance(departure: Departure) -> Decision:
    """Take the next step; a cluster that does not answer is asked again by the next beat."""
    process = ManagedProcess.objects.filter(name=departure.name).first()
    facts = _facts(departure, process)
    decision = decide(facts)
    state, sentence = departure.state, decision.sentence
    try:
        state, sentence = _do(departure, process, decision)
    except GatewayError as error:
        sentence = f"Waits: {error}"
    except NotConfirmedError as error:
        state, sentence = State.PAUSED, f"Paused: {error}"
    _write(departure, process, state, sentence or departure.sentence, facts.left)
    return decision


def _facts(departure: Departure, process: ManagedProcess | None) -> Facts:
    state = cluster_state()
    return Facts(
        state=departure.state,
        now_ms=now_ms(),
        seen_at_ms=0 if state.topics_error else state.topics_at_ms,
        held=departure.held,
        left=partitions_on(departure.broker_id),
        is_moving=Reassignment.objects.filter(state__in=OPEN).exists() or OngoingMove.objects.exists(),
        is_managed=process is not None,
        process=without_last_line(process.state_sentence) if process else "",
    )


def _do(departure: Departure, process: ManagedProcess | None, decision: Decision) -> tuple[str, str]:
    """State and sentence from now on, unless somebody is quicker. Raises GatewayError, NotConfirmedError."""
    if decision.do in (Do.DRAIN, Do.REMOVE) and not _may_go_on(departure):
        return State.PAUSED, f"Paused: {departure.actor_name} may not do this any more. Who may resumes it."
    match decision.do:
        case Do.FINISH:
            return State.DONE, decision.sentence
        case Do.REMOVE:
            if held := replicas_of(departure.broker_id):
                return departure.state, f"Waits: the cluster says that it still holds {len(held):,} replicas."
            return State.STOPPING, decision.sentence
        case Do.DRAIN:
            return _drain(departure, decision)
    return departure.state, decision.sentence


def _may_go_on(departure: Departure) -> bool:
    actor = departure.actor
    if not may_still_operate(actor, [departure.name]):
        return False
    return not reach_of(actor).is_limited(Resource.TOPIC)


def _drain(departure: Departure, decision: Decision) -> tuple[str, str]:
    proposal = drain_proposal(departure.broker_id)
    if not proposal.targets and not proposal.stuck:
        return departure.state, "Waits for the next look at the partitions."
    if not proposal.targets:
        why = next(iter(proposal.stuck.values()))
        return State.PAUSED, f"Paused: {count_of(len(proposal.stuck), 'partition')} cannot move elsewhere. {why}"
    do_drain(departure, planned(proposal.targets, departure.rate), settings.BOOTSTRAP_SERVERS)
    return departure.state, decision.sentence


def _write(departure: Departure, process: ManagedProcess | None, state: str, sentence: str, left: int) -> None:
    """A departure that was called off meanwhile stays so, and its broker too: both are written, or neither."""
    if (state, sentence, left) == (departure.state, departure.sentence, departure.left):
        return
    with transaction.atomic():
        locked = Departure.objects.select_for_update().get(pk=departure.pk)
        if locked.state != departure.state:
            return
        if state == State.STOPPING and locked.state != State.STOPPING:
            do_remove(departure.actor, process)
        locked.state, locked.sentence, locked.left = state, sentence[:500], left
        locked.held = max(locked.held, left)
        locked.ended_at = None if locked.is_open else timezone.now()
        locked.save(update_fields=["state", "sentence", "left", "held", "ended_at"])
        logger.info("departure of %s: %s", locked.name, locked.sentence)
        push_departure(locked)
