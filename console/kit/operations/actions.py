"""What people may do to an operation: begin it by plan, pause, resume and call it off. The beat goes on from its row.

Nothing happens to one that is in another state than it was seen in: somebody was quicker.
"""

from collections.abc import Callable

from django.contrib.auth.models import User
from django.db import IntegrityError

from console.kit.common.databases import cluster_atomic
from console.kit.operations.models import Operation
from console.kit.operations.rows import change
from console.kit.plans.apply import ask_rules, carry_out
from console.kit.plans.plan import Confirmation, ObstacleError, Plan, PlanLine

State = Operation.State


def begin(actor: User, plan: Plan, confirmation: Confirmation, make: Callable[..., object], there_is_one: str) -> None:
    """Begin an operation: `make` the rows, with what every operation has, as `plan` says. Raises NotConfirmedError.

    `there_is_one`: why it was refused if the database knows of one that is open.
    """

    def do() -> None:
        try:
            with cluster_atomic():
                make(actor=actor, actor_name=actor.get_username(), sentence="Begins.")
        except IntegrityError as error:
            raise ObstacleError(there_is_one) from error

    carry_out(actor, plan, confirmation, do)


def do_pause(actor: User, operation: Operation) -> None:
    """Pause the operation: the running part completes, and no other begins."""
    values = {"state": State.PAUSED, "sentence": "Paused by hand."}
    change(actor, operation, "pause", values, lambda now: now.state == State.RUNNING)


def do_resume(actor: User, operation: Operation) -> None:
    """Resume in the name of `actor`. Raises NotConfirmedError where rules of changes hold it."""
    line = PlanLine("state", str(State.PAUSED), str(State.RUNNING))
    ask_rules(actor, Plan(f"resume {operation.noun}", *operation.audited, (line,), (), parts=operation.resumed))
    values = {"state": State.RUNNING, "sentence": "Goes on.", "actor": actor}
    change(actor, operation, "resume", values, lambda now: now.state == State.PAUSED)


def do_call_off(actor: User, operation: Operation) -> None:
    """Call the operation off: completed parts stay, the running one completes, and no other begins."""
    values = {"state": State.CALLED_OFF, "sentence": "Called off."}
    change(actor, operation, "call off", values, lambda now: now.can_be_called_off)
