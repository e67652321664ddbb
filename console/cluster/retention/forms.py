"""What a person may type about retention. The broker has the last word; this spares it what cannot be right."""

from collections.abc import Mapping

from django import forms

from console.kit.common.amounts import DURATIONS, SIZES, squeezed, whole_number
from console.kit.plans.setting import DEFAULT

_POLICIES = [("", "as it is"), ("delete", "delete"), ("compact", "compact"), ("compact,delete", "compact,delete")]


class _AmountOrDefault(forms.CharField):
    """A whole number, one with a unit (`3.5 d`, `10 GB`), -1, or the word default; blank leaves it as it is."""

    def __init__(self, units: Mapping[str, int], *, label: str):
        super().__init__(required=False, max_length=24, label=label)
        self._units = units

    def clean(self, value: object) -> str:
        text = squeezed(super().clean(value) or "")
        if text in ("", DEFAULT, "-1"):
            return text
        number = whole_number(text, self._units)
        if number is None:
            units = ", ".join(self._units)
            raise forms.ValidationError(f"A number, alone or with a unit ({units}), -1 for no limit, or default.")
        return number


class RetentionForm(forms.Form):
    """`changes` are the typed texts by the setting's name."""

    cleanup_policy = forms.ChoiceField(
        label="cleanup.policy", required=False, choices=[*_POLICIES, (DEFAULT, "default")]
    )
    retention_ms = _AmountOrDefault(DURATIONS, label="retention.ms")
    retention_bytes = _AmountOrDefault(SIZES, label="retention.bytes")

    @property
    def changes(self) -> dict[str, str]:
        return {name.replace("_", "."): self.cleaned_data.get(name, "") for name in self.fields}
