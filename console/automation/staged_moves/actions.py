"""What begins a move in batches, and what it does in the name of who began it. Pausing and such are an operation's."""

from datetime import datetime

from django.contrib.auth.models import User

from console.automation.staged_moves.models import ENDED_KEPT, StagedMove
from console.automation.staged_moves.queries import batch_of
from console.cluster.placement.actions import Begun, change_rate, do_move
from console.cluster.placement.cancel import CancelPlan
from console.cluster.placement.move import MovePlan
from console.kit.gateway.connect import cluster_gateway
from console.kit.operations.actions import begin
from console.kit.operations.models import OPEN
from console.kit.operations.rows import change
from console.kit.plans.apply import OBJECT_NAME_LENGTH_MAX, Refusals, carry_out
from console.kit.plans.digest import digest_of
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.posted import goes_on

State = StagedMove.State


def do_stage(
    actor: User, plan: Plan, move: MovePlan, size: int, begins_at: datetime | None,
    confirmation: Confirmation,
) -> StagedMove | None:  # fmt: skip
    """Stage the move; None if there was nothing to do. Raises NotConfirmedError."""
    made: list[StagedMove] = []

    def make(**common: object) -> None:
        row = StagedMove.objects.create(
            action=plan.action,
            object_type=plan.object_type,
            object_name=plan.object_name[:OBJECT_NAME_LENGTH_MAX],
            former=move.former,
            wanted=move.wanted,
            topic_ids={topic: move.topic_ids[topic] for topic in move.topics if topic in move.topic_ids},
            partition_count=len(move.moves),
            left=len(move.moves),
            batch_size=size,
            rate=move.rate,
            begins_at=begins_at,
            **common | ({"sentence": f"Begins {begins_at:%Y-%m-%d %H:%M} UTC."} if begins_at else {}),
        )
        made.append(row)
        _forget_old()

    begin(actor, plan, confirmation, make, "Such a move is open already.")
    return made[0] if made else None


def do_batch(operation: StagedMove, move: MovePlan, bootstrap_servers: str) -> Begun:
    """Begin the next batch unless the move was paused or called off. Raises NotConfirmedError, GatewayError."""
    if not StagedMove.objects.filter(pk=operation.pk, state=State.RUNNING).exists():
        return {}, None
    plan = move.as_plan(bootstrap_servers, operation.action)
    with goes_on():
        return do_move(operation.actor, plan, move, Confirmation(digest_of(plan, operation.actor), plan.typed_name))


def do_cancel(
    actor: User, operation: StagedMove, plan: Plan, cancel: CancelPlan, confirmation: Confirmation
) -> Refusals:
    """Call off what is on the move now; nothing else of it begins until somebody resumes it.

    It pauses first, so that no beat begins again what is called off. Raises NotConfirmedError, GatewayError.
    """
    values = {"state": State.PAUSED, "sentence": "Paused: its open reassignments were called off."}

    def call_off() -> Refusals:
        change(actor, operation, "pause", values, lambda now: now.state == State.RUNNING)
        refused = cluster_gateway().moves.alter(dict.fromkeys((move.place for move in cancel.moves), None))
        return {f"{topic}-{partition}": why for (topic, partition), why in refused.items()}

    return carry_out(actor, plan, confirmation, call_off)


def do_change_throttle(
    actor: User, operation: StagedMove, plan: Plan, rate: int | None, confirmation: Confirmation
) -> None:
    """Change the throttle of the running batch and of those to come. Raises NotConfirmedError, GatewayError."""

    def do() -> None:
        StagedMove.objects.filter(pk=operation.pk, state__in=OPEN).update(rate=rate)
        batch = batch_of(operation)
        if batch is not None:
            change_rate(cluster_gateway(), batch, rate)

    carry_out(actor, plan, confirmation, do)


def _forget_old() -> None:
    over = StagedMove.objects.exclude(state__in=OPEN)
    oldest = over.values_list("pk", flat=True)[ENDED_KEPT - 1 : ENDED_KEPT]
    over.filter(pk__lt=min(oldest, default=0)).delete()
