"""What an operator may do to an ensemble: begin a change as planned, or call it off. The beat carries it out."""

from dataclasses import asdict

from django.db import IntegrityError, transaction

from console.audit.record import record_event
from console.plans.apply import carry_out
from console.plans.plan import Confirmation, ObstacleError, Plan
from console.processes.models import ManagedProcess
from console.processes.registry import change_process
from console.zookeeper.announce import push_change
from console.zookeeper.models import EnsembleChange
from console.zookeeper.plan import EnsemblePlan


def do_change_ensemble(actor, planned: EnsemblePlan, confirmation: Confirmation) -> None:
    """Begin what was planned. Raises NotConfirmedError."""

    def begin() -> None:
        try:
            with transaction.atomic():
                EnsembleChange.objects.create(
                    kind=planned.kind.value,
                    joining_servers=[asdict(each) for each in planned.joining],
                    leaving=list(planned.leaving),
                    actor=actor,
                    actor_name=actor.get_username(),
                    sentence="Begins.",
                )
        except IntegrityError as error:
            raise ObstacleError("Another change of the ensemble is under way.") from error

    carry_out(actor, planned.plan, confirmation, begin)


def do_set_zoo_cfg(actor, plan: Plan, servers: list[ManagedProcess], confirmation: Confirmation) -> None:
    """For the next start of each. Raises NotConfirmedError."""

    def write() -> None:
        with transaction.atomic():
            for row in servers:
                change_process(row, {**row.spec, "settings": {**row.spec.get("settings", {}), **plan.after}})

    carry_out(actor, plan, confirmation, write)


def do_call_off(actor, change: EnsembleChange) -> bool:
    """Stop the new servers and leave the members as they are. False if the members may have changed already."""
    with transaction.atomic():
        locked = EnsembleChange.objects.select_for_update().get(pk=change.pk)
        if not locked.can_be_called_off:
            return False
        locked.is_called_off, locked.sentence = True, "Is called off."
        locked.save(update_fields=["is_called_off", "sentence"])
        before, after = {"called off": False}, {"called off": True}
        record_event(actor, "call off change of ensemble", "zookeeper ensemble", locked.title, before, after)
        push_change(locked)
    return True
