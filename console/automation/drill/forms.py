"""What a drill is asked for with."""

from typing import Any

from django import forms

from console.automation.drill.faults import SECONDS_MAX, SECONDS_MIN, Fault, FaultTarget
from console.automation.drill.queries import KINDS
from console.kit.common.form_choices import set_choices
from console.processes.models import ManagedProcess

_FAULTS = [
    (Fault.PAUSE.value, "pause (SIGSTOP, continued)"),
    (Fault.KILL.value, "kill (SIGKILL, started again)"),
    (Fault.SLOW.value, "slow (a fifth of the time)"),
]


class DrillForm(forms.Form):
    fault = forms.ChoiceField(label="What", choices=_FAULTS)
    whom = forms.ChoiceField(label="To whom")
    topic = forms.CharField(
        label="Topic", required=False, max_length=249, help_text="For the leader of its first partition."
    )
    seconds = forms.IntegerField(label="For, seconds", min_value=SECONDS_MIN, max_value=SECONDS_MAX, initial=20)

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **named)
        processes = ManagedProcess.objects.filter(kind__in=KINDS).values_list("name", flat=True)
        whom = [
            (FaultTarget.CONTROLLER.value, "the controller"),
            (FaultTarget.LEADER.value, "the leader of a topic"),
            (FaultTarget.ZOOKEEPER_LEADER.value, "ZooKeeper's leader"),
            *((f"process:{name}", name) for name in processes),
        ]
        set_choices(self, "whom", whom)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("whom") == FaultTarget.LEADER and not cleaned.get("topic"):
            self.add_error("topic", "Which topic?")
        return cleaned

    @property
    def wanted(self) -> tuple[Fault, FaultTarget, str, int]:
        """The fault, its target and its duration, of a valid form."""
        fields = self.cleaned_data
        kind, _, name = fields["whom"].partition(":")
        return Fault(fields["fault"]), FaultTarget(kind), name or fields["topic"], fields["seconds"]
