"""What a person does: begins a drill by plan, and stops it. The beat goes on from its row."""

from django.contrib.auth.models import User

from console.automation.drill.faults import Fault
from console.automation.drill.models import KEPT, Drill
from console.automation.drill.plan import UNDER_WAY
from console.automation.drill.queries import DrillOutlook, DrillTarget
from console.kit.common.clock import now_ms
from console.kit.operations.actions import begin
from console.kit.operations.models import OPEN
from console.kit.operations.rows import change
from console.kit.plans.plan import Confirmation, Plan
from console.processes.consequences import broker_id_of
from console.processes.models import ManagedProcess


def do_begin(
    actor: User,
    plan: Plan,
    target: DrillTarget,
    fault: Fault,
    seconds: int,
    outlook: DrillOutlook,
    confirmation: Confirmation,
) -> None:
    """Raises NotConfirmedError."""
    process = target.process
    assert process is not None

    def make(**common: object) -> None:
        at_ms = now_ms()
        is_broker = process.kind == ManagedProcess.Kind.BROKER
        Drill.objects.create(
            fault=fault.value,
            chosen_as=target.why[:300],
            name=process.name,
            broker_id=broker_id_of(process) if is_broker else None,
            seconds=seconds,
            began_ms=at_ms,
            phase_ms=at_ms,
            target={"pid": process.pid, "create_time": process.create_time, "token": process.run_token},
            expected=outlook.expected.as_json(),
            **common,
        )
        _forget_old()

    begin(actor, plan, confirmation, make, UNDER_WAY)


def do_stop(actor: User, drill: Drill) -> None:
    """Stop the drill: the next beat undoes the fault, and only then is it over."""
    values = {"is_called_off": True, "sentence": "Stopped: everything is being put back."}
    change(actor, drill, "stop", values, lambda now: now.can_be_called_off)


def _forget_old() -> None:
    over = Drill.objects.exclude(state__in=OPEN)
    oldest = over.values_list("pk", flat=True)[KEPT - 1 : KEPT]
    over.filter(pk__lt=min(oldest, default=0)).delete()
