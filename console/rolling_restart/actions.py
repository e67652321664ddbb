"""What an operator may do to a rolling restart: a change of its row with its audit row; the beat goes on from there."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from console.audit.record import record_event
from console.plans.apply import carry_out
from console.plans.plan import Confirmation, ObstacleError, Plan
from console.rolling_restart.announce import push_restart
from console.rolling_restart.models import RestartedBroker, RollingRestart
from console.rolling_restart.plan import OBJECT_NAME, OBJECT_TYPE, UNDER_WAY, RestartPlan

State = RollingRestart.State


def do_begin(actor, planned: RestartPlan, plan: Plan, confirmation: Confirmation) -> None:
    """Restart the brokers of `planned`, one after the other. Raises NotConfirmedError."""

    def begin() -> None:
        try:
            with transaction.atomic():
                restart = RollingRestart.objects.create(
                    actor=actor,
                    actor_name=actor.get_username(),
                    accepts_gaps=bool(planned.gaps),
                    sentence="Begins.",
                )
                RestartedBroker.objects.bulk_create(
                    RestartedBroker(restart=restart, position=position, name=each.name, broker_id=each.broker_id)
                    for position, each in enumerate(planned.brokers)
                )
        except IntegrityError as error:
            raise ObstacleError(UNDER_WAY) from error

    carry_out(actor, plan, confirmation, begin)


def do_pause(actor, restart: RollingRestart) -> None:
    """The broker that is restarting comes back; no other is taken."""
    _change(actor, restart, "pause rolling restart", State.RUNNING, State.PAUSED, "Paused by hand.")


def do_resume(actor, restart: RollingRestart) -> None:
    """From now on it goes on in the name of `actor`."""
    RollingRestart.objects.filter(pk=restart.pk, state=State.PAUSED).update(actor=actor)
    _change(actor, restart, "resume rolling restart", State.PAUSED, State.RUNNING, "Goes on.")


def do_cancel(actor, restart: RollingRestart) -> None:
    """Those restarted stay so, and the one under way comes back; the others are left alone."""
    for state in (State.RUNNING, State.PAUSED):
        _change(actor, restart, "cancel rolling restart", state, State.CANCELLED, "Called off.")


def _change(actor, restart: RollingRestart, action: str, before: State, after: State, sentence: str) -> None:
    """Nothing happens to one that is in another state: somebody was quicker."""
    with transaction.atomic():
        locked = RollingRestart.objects.select_for_update().get(pk=restart.pk)
        if locked.state != before:
            return
        locked.state, locked.sentence = after, sentence
        locked.ended_at = None if locked.is_open else timezone.now()
        locked.save(update_fields=["state", "sentence", "ended_at"])
        record_event(actor, action, OBJECT_TYPE, OBJECT_NAME, {"state": before}, {"state": after})
        push_restart(locked)
