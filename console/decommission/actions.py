"""What an operator may do to a departure; the beat goes on from its row."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from console.audit.record import record_event
from console.decommission.announce import push_departure
from console.decommission.models import Departure
from console.placement.actions import do_move
from console.placement.move import MovePlan
from console.plans.apply import carry_out
from console.plans.digest import digest_of
from console.plans.plan import Confirmation, ObstacleError, Plan
from console.processes.consequences import broker_id_of
from console.processes.models import ManagedProcess

State = Departure.State


def do_depart(actor, plan: Plan, move: MovePlan, process: ManagedProcess, confirmation: Confirmation) -> None:
    """Begin a departure as planned. Raises NotConfirmedError; ObstacleError if one is under way."""

    def begin() -> None:
        try:
            with transaction.atomic():
                Departure.objects.create(
                    name=process.name,
                    broker_id=broker_id_of(process),
                    actor=actor,
                    actor_name=actor.get_username(),
                    rate=move.rate,
                    held=len(move.moves),
                    left=len(move.moves),
                    sentence="Begins.",
                )
        except IntegrityError:
            raise ObstacleError(f"{process.name} is leaving already.") from None

    carry_out(actor, plan, confirmation, begin)


def do_drain(departure: Departure, move: MovePlan, bootstrap_servers: str) -> None:
    """Move away what is still there: what was confirmed, or came since. Nothing moves if it was called off meanwhile.

    Raises NotConfirmedError, GatewayError.
    """
    if not Departure.objects.filter(pk=departure.pk, state=State.DRAINING).exists():
        return
    plan = move.as_plan(bootstrap_servers)
    do_move(departure.actor, plan, move, Confirmation(digest_of(plan, departure.actor), plan.typed_name))


def do_resume(actor, departure: Departure) -> None:
    """From now on it goes on in the name of `actor`."""
    Departure.objects.filter(pk=departure.pk, state=State.PAUSED).update(actor=actor)
    _change(actor, departure, "resume departure", (State.PAUSED,), State.DRAINING, "Goes on.")


def do_call_off(actor, departure: Departure) -> None:
    """The broker stays, with what has not left it; moves under way arrive. Nothing happens once it is being stopped."""
    _change(actor, departure, "call off departure", (State.DRAINING, State.PAUSED), State.CANCELLED, "Called off.")


def _change(actor, departure: Departure, action: str, before: tuple, after: State, sentence: str) -> None:
    """Nothing happens to one that is in another state: somebody was quicker."""
    with transaction.atomic():
        locked = Departure.objects.select_for_update().get(pk=departure.pk)
        if locked.state not in before:
            return
        was, locked.state, locked.sentence = locked.state, after, sentence
        locked.ended_at = None if locked.is_open else timezone.now()
        locked.save(update_fields=["state", "sentence", "ended_at"])
        record_event(actor, action, "process", locked.name, {"departure": was}, {"departure": after})
        push_departure(locked)
