"""A rule of changes as a person fills it in; what is stored of it is `rule_values`."""

from typing import Any

from django import forms

from console.shell.changes.rules import APPROVAL, FREEZE, REFUSE, SUGGESTED, WAIT, WINDOW, RuleError, parse_rule
from console.shell.changes.windows import DAYS

_KINDS = [
    (APPROVAL, "needs a second person"),
    (WINDOW, "may be made within hours of the week"),
    (FREEZE, "may not be made from … to …"),
]
_OUTSIDE = [(WAIT, "wait until it may be made"), (REFUSE, "are refused")]


class ChangeRuleForm(forms.Form):
    """The form of a rule of changes; `rule_values` is what is stored of a valid one."""

    name = forms.RegexField(
        r"^[A-Za-z0-9._-]{1,60}$", max_length=60, error_messages={"invalid": "Letters, digits, . _ -"}
    )
    kind = forms.ChoiceField(label="What it concerns", choices=_KINDS)
    actions = forms.CharField(
        max_length=2_000, help_text=f"One or several with commas between, * for any text: {', '.join(SUGGESTED)}."
    )
    objects = forms.CharField(
        max_length=2_000,
        initial="*",
        help_text="Names, with commas between, as prod.*; of a topic, group, user, process …",
    )
    why = forms.CharField(
        label="Why", required=False, max_length=300, help_text="Shown to users whose change it holds."
    )
    days = forms.MultipleChoiceField(
        label="Begins on", required=False, choices=[(day, day) for day in DAYS], widget=forms.CheckboxSelectMultiple
    )
    begins = forms.CharField(label="Begins at", required=False, max_length=5, help_text="As 22:00, on the wall there.")
    ends = forms.CharField(label="Ends at", required=False, max_length=5, help_text="The next day, if it is earlier.")
    zone = forms.CharField(
        label="Time zone", required=False, max_length=60, initial="UTC", help_text="As Europe/Paris."
    )
    frozen_from = forms.CharField(
        label="Frozen from", required=False, max_length=25, help_text="As 2026-12-20T00:00, UTC."
    )
    frozen_to = forms.CharField(label="Frozen until", required=False, max_length=25)
    outside = forms.ChoiceField(label="Changes at other times", choices=_OUTSIDE, required=False)

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **named)
        self.rule_values: dict[str, Any] = {}

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if self.errors:
            return fields
        values = {"kind": fields["kind"], "actions": _split(fields["actions"]), "objects": _split(fields["objects"])}
        values |= {"why": fields["why"]} if fields["why"] else {}
        if fields["kind"] == WINDOW:
            values |= {name: fields[name] for name in ("days", "begins", "ends")} | {"zone": fields["zone"] or "UTC"}
        if fields["kind"] == FREEZE:
            values |= {"from": fields["frozen_from"], "to": fields["frozen_to"]}
        if fields["kind"] != APPROVAL:
            values["outside"] = fields["outside"] or WAIT
        try:
            parse_rule(fields["name"], values)
        except RuleError as error:
            self.add_error(None, str(error))
        self.rule_values = values
        return fields


def initial_of(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the initial values of a kept rule's form."""
    joined = {key: ", ".join(values.get(key, ())) for key in ("actions", "objects")}
    return {**values, **joined, "name": name, "frozen_from": values.get("from", ""), "frozen_to": values.get("to", "")}


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
