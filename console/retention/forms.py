"""What a person may type about retention. The broker has the last word; this spares it what cannot be right."""

import re
from decimal import Decimal

from django import forms

from console.retention.plan import DEFAULT

_POLICIES = [("", "as it is"), ("delete", "delete"), ("compact", "compact"), ("compact,delete", "compact,delete")]


_DURATIONS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_SIZES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_AMOUNT = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)([a-z]*)")


class _AmountOrDefault(forms.CharField):
    """A whole number, one with a unit (`3.5 d`, `10 GB`), -1, or the word default; blank leaves it as it is."""

    def __init__(self, units: dict[str, int], **options):
        super().__init__(required=False, max_length=24, **options)
        self._units = units

    def clean(self, value):
        text = (super().clean(value) or "").replace("\u202f", "").replace(" ", "").lower()
        if text in ("", DEFAULT, "-1"):
            return text
        amount = _AMOUNT.fullmatch(text)
        if amount is None or (amount[2] and amount[2] not in self._units) or (not amount[2] and "." in amount[1]):
            units = ", ".join(self._units)
            raise forms.ValidationError(f"A number, alone or with a unit ({units}), -1 for no limit, or default.")
        return str(int(Decimal(amount[1]) * self._units.get(amount[2], 1)))


class RetentionForm(forms.Form):
    """`changes` are the typed texts by the setting's name."""

    cleanup_policy = forms.ChoiceField(
        label="cleanup.policy", required=False, choices=[*_POLICIES, (DEFAULT, "default")]
    )
    retention_ms = _AmountOrDefault(_DURATIONS, label="retention.ms")
    retention_bytes = _AmountOrDefault(_SIZES, label="retention.bytes")

    @property
    def changes(self) -> dict[str, str]:
        return {name.replace("_", "."): self.cleaned_data.get(name, "") for name in self.fields}
