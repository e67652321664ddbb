"""One beat of a move in batches: what is known here, then what the cluster says, then the next batch if it is due.

The beat may come twice or not at all: what is on the move is found by its partitions, and what has arrived by where the
cluster says it is.
"""

from dataclasses import replace

from console.automation.staged_moves.actions import do_batch
from console.automation.staged_moves.decide import (
    StagedMoveDecision,
    StagedMoveFacts,
    StagedMoveStep,
    may_begin,
    next_batch,
    remade,
)
from console.automation.staged_moves.models import StagedMove
from console.automation.staged_moves.queries import batch_of
from console.cluster.placement.models import OngoingMove
from console.cluster.placement.move import flat
from console.cluster.placement.moving import planned, throttled_by
from console.cluster.placement.sentences import count_of
from console.kit.access.reach import Resource
from console.kit.access.read_only import why_read_only
from console.kit.access.rights import CLUSTER, Right, reach_of
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import here
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.kit.operations.rows import settle
from console.kit.plans.gate import the_gate
from console.kit.plans.plan import NotConfirmedError

State = StagedMove.State
_NOT_ALLOWED = "{} may not move these partitions any more. A user with the right can resume it."


def advance(operation: StagedMove) -> None:
    """Take the next step; a cluster that does not answer is asked again by the next beat."""
    decision = may_begin(_facts(operation))
    values: dict[str, object] = {"sentence": decision.sentence}
    try:
        values = _values(operation, _decide_now(operation) if decision.do is StagedMoveStep.BEGIN else decision)
    except GatewayError as error:
        values["sentence"] = f"Waits: {error}"
    except NotConfirmedError as error:
        values = _values(operation, StagedMoveDecision(StagedMoveStep.REFUSE, str(error)))
    settle(operation, values)


def _facts(operation: StagedMove) -> StagedMoveFacts:
    begins = operation.begins_at
    batch = batch_of(operation)
    facts = StagedMoveFacts(
        is_paused=operation.state == State.PAUSED,
        now_ms=now_ms(),
        begins_ms=round(1_000 * begins.timestamp()) if begins else 0,
        begins=f"{begins:%Y-%m-%d %H:%M} UTC" if begins else "",
        moving=batch.partition_count if batch else _on_the_move(operation),
        batches=operation.batches,
    )
    if may_begin(facts).do is not StagedMoveStep.BEGIN:
        return facts
    not_allowed = "" if _may_go_on(operation) else _NOT_ALLOWED.format(operation.whose)
    return replace(facts, not_allowed=not_allowed, forbids=_forbids(operation))


def _on_the_move(operation: StagedMove) -> int:
    """Return the partitions in reassignment, also by others."""
    places = flat(operation.wanted).keys()
    return sum((move.topic, move.partition) in places for move in OngoingMove.objects.all())


def _may_go_on(operation: StagedMove) -> bool:
    actor = operation.actor
    if actor is None or not actor.is_active:
        return False
    reach = reach_of(actor)
    return Right.OPERATE in reach.rights_on(Resource.CLUSTER, CLUSTER) and all(
        Right.OPERATE in reach.rights_on(Resource.TOPIC, topic) for topic in operation.topics
    )


def _forbids(operation: StagedMove) -> str:
    """Return why the beginning is forbidden: read-only mode does not stop what is under way. A second person has agreed
    already.
    """
    if not operation.batches and (read_only := why_read_only()):
        return str(read_only)
    (whole,) = operation.resumed
    hold = the_gate().hold(whole, operation.actor, None)
    return hold.sentence if hold is not None and hold.is_closed else ""


def _decide_now(operation: StagedMove) -> StagedMoveDecision:
    """Raises GatewayError, NotConfirmedError."""
    wanted = flat(operation.wanted)
    ids = cluster_gateway().moves.topic_ids(operation.topics)
    if others := remade(operation.topic_ids, ids):
        return StagedMoveDecision(StagedMoveStep.REFUSE, others)
    present = cluster_gateway().moves.assignments(operation.topics)
    decision = next_batch(flat(operation.former), wanted, present, operation.batch_size)
    if decision.do is not StagedMoveStep.BEGIN:
        return decision
    if operation.rate is not None and (other := throttled_by()):
        return replace(decision, do=StagedMoveStep.NOTHING, sentence=f"Waits: a throttled move is under way ({other}).")
    batch = planned(decision.batch, operation.rate)
    if batch.obstacle:
        return replace(decision, do=StagedMoveStep.REFUSE, sentence=batch.obstacle)
    refused, kept = do_batch(operation, batch, here.BOOTSTRAP_SERVERS)
    if kept is not None and len(refused) == len(batch.moves):
        place, why = next(iter(refused.items()))
        return replace(decision, do=StagedMoveStep.PAUSE, sentence=f"{place} was refused: {why}")
    moving = count_of(len(batch.moves) - len(refused), "partition")
    return replace(decision, sentence=f"Batch {operation.batches + 1}: {moving} being reassigned.")


def _values(operation: StagedMove, decision: StagedMoveDecision) -> dict[str, object]:
    """Return changed columns, unless another process was quicker."""
    values: dict[str, object] = {"sentence": decision.sentence}
    if decision.left is not None:
        values["left"] = decision.left
    match decision.do:
        case StagedMoveStep.BEGIN:
            values["batches"] = operation.batches + 1
        case StagedMoveStep.FINISH:
            values["state"] = State.DONE
        case StagedMoveStep.REFUSE if not operation.batches:
            values |= {"state": State.CALLED_OFF, "sentence": f"Refused, and nothing was moved: {decision.sentence}"}
        case StagedMoveStep.REFUSE | StagedMoveStep.PAUSE:
            values |= {"state": State.PAUSED, "sentence": f"Paused: {decision.sentence}"}
    return values
