"""What a person says of a reason of health: what it is, until when, and why."""

from typing import Any

from django import forms

from console.kit.common.form_choices import set_choices
from console.signals.overview.health import HealthReason
from console.signals.overview.quiet import QuietKind
from console.signals.overview.unclean_reason import TOLD_FOR_MS
from console.state.clusters.models import QUIET_WHY_LENGTH_MAX

HOUR_MS = 3_600_000
#: The longest is a month: what is quiet for ever is forgotten, and so is why.
SPANS = {1: "1 hour", 4: "4 hours", 24: "1 day", 72: "3 days", 168: "7 days", 720: "30 days"}
_PAST = "Acknowledge: it has been dealt with; it counts no more"
_KINDS = {
    QuietKind.ACKNOWLEDGED: "Acknowledge: it is being worked on, and counts as before",
    QuietKind.MUTED: "Mute: it does not count until then",
    QuietKind.RETIRED: "Retire the group: it is not used any more, and does not count until it has a member again",
}


class QuietForm(forms.Form):
    kind = forms.ChoiceField(label="What is said of it")
    hours = forms.TypedChoiceField(label="Until", coerce=int, choices=list(SPANS.items()), initial=24)
    why = forms.CharField(max_length=QUIET_WHY_LENGTH_MAX, label="Why")

    def __init__(self, reason: HealthReason, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self._is_past = reason.is_past
        if reason.is_past:
            del self.fields["hours"]
            set_choices(self, "kind", [(QuietKind.ACKNOWLEDGED.value, _PAST)])
            return
        offered = [item for item in QuietKind if item is not QuietKind.RETIRED or reason.may_retire]
        kind = set_choices(self, "kind", [(item.value, _KINDS[item]) for item in offered])
        kind.initial = (QuietKind.RETIRED if reason.may_retire else QuietKind.ACKNOWLEDGED).value

    @property
    def hint(self) -> str:
        if self._is_past:
            return "It is past and cannot be undone. The next one counts again at once."
        return "Whatever is said, the reason counts again at once when it becomes worse or is another."

    def until_ms(self, now_ms: int) -> int | None:
        """Return the end, of a valid form; None for a retired group."""
        if self.cleaned_data["kind"] == QuietKind.RETIRED:
            return None
        if self._is_past:
            return now_ms + TOLD_FOR_MS
        return now_ms + self.cleaned_data["hours"] * HOUR_MS
