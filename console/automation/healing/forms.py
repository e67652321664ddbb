"""What a person may say of a kind of trouble."""

from django import forms
from django.http import QueryDict

from console.automation.healing.kinds import MINUTES_MAX, MINUTES_MIN, WORDS, HealingMode, TroubleRule

_MODES = [
    (HealingMode.OFF.value, "off"),
    (HealingMode.PROPOSE.value, "propose: a person confirms"),
    (HealingMode.ACT.value, "act: done without a person, in your name"),
]
_MEGABYTE = 1_000_000


class HealingRuleForm(forms.Form):
    mode = forms.ChoiceField(label="What is done", choices=_MODES)
    minutes = forms.IntegerField(
        label="When it has lasted, minutes", min_value=MINUTES_MIN, max_value=MINUTES_MAX,
        help_text="Time in which the console did not look does not count.",
    )  # fmt: skip

    def __init__(self, before: TroubleRule, data: QueryDict | None = None):
        initial = {"mode": before.mode.value, "minutes": before.minutes, "limit": before.limit,
                   "rate": before.rate // _MEGABYTE}  # fmt: skip
        super().__init__(data, initial=initial)
        self._before, words = before, WORDS[before.kind]
        if words.limit:
            self.fields["limit"] = forms.IntegerField(
                label=words.limit, min_value=words.limit_min, max_value=words.limit_max
            )
        if words.copies:
            self.fields["rate"] = forms.IntegerField(
                label="Copied at most, MB/s on each broker", min_value=1, max_value=100_000
            )

    @property
    def rule(self) -> TroubleRule:
        """The rule of a valid form."""
        fields, before = self.cleaned_data, self._before
        rate = fields["rate"] * _MEGABYTE if "rate" in fields else before.rate
        return TroubleRule(
            before.kind, HealingMode(fields["mode"]), fields["minutes"], fields.get("limit", before.limit), rate
        )
