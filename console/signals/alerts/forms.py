"""A rule as a person fills it in; what the file of rules would hold is `rule_values`."""

from collections.abc import Mapping
from typing import Any

from django import forms

from console.cluster.charts.measures import KINDS
from console.kit.common.form_choices import set_choices
from console.signals.alerts.channels import CHANNEL_KINDS, Channel
from console.signals.alerts.rules import SEVERITIES, TEXT_LENGTH_MAX, AlertRulesError, parse_rule

_HEALTH = [
    ("health.warning", "a reason of health, warning or worse"),
    ("health.critical", "a reason of health, critical"),
]
_MEASURES = [
    (kind, [(f"{kind}.{measure}", f"{kind}.{measure}") for measure in measures]) for kind, measures in KINDS.items()
]
_OBJECTS_HINT = "A pattern of names, as orders-*. Blank: all."
_LIMIT_HINT = "Bytes, milliseconds, percent, records: as charts count."
_TIME_HINT = "As 30 s, 5 min, 4 h or 1 d."


#: Of each setting of a channel, in the order of the form; what a message is sent with is a secret.
CHANNEL_LABELS = {
    "url": "Address (https)",
    "room": "Room",
    "to": "To, several with commas between",
    "from": "From",
    "server": "Mail server, host:port",
    "tls": "TLS: starttls, tls or none",
    "user": "User",
    "token": "Token",
    "routing_key": "Routing key",
    "api_key": "API key",
    "password": "Password",
}
_SECRETS = frozenset(("url", "token", "routing_key", "api_key", "password"))


class AlertRuleForm(forms.Form):
    """`rule` is what it makes, when it is valid."""

    name = forms.CharField(max_length=60)
    about = forms.ChoiceField(label="Measure", choices=[("health", _HEALTH), *_MEASURES])
    objects = forms.CharField(label="Objects", required=False, max_length=300, help_text=_OBJECTS_HINT)
    is_above = forms.TypedChoiceField(
        label="Condition", choices=[("above", "above"), ("below", "below")], required=False, empty_value="above"
    )
    threshold = forms.FloatField(label="Threshold", required=False, help_text=_LIMIT_HINT)
    recover = forms.FloatField(label="Recovery threshold", required=False, help_text="Blank: the threshold itself.")
    lasting = forms.CharField(label="For at least", required=False, max_length=20, help_text=_TIME_HINT)
    clear = forms.CharField(label="Recovery duration", required=False, max_length=20, help_text=_TIME_HINT)
    repeat = forms.CharField(label="Repeat interval", required=False, max_length=20, help_text=_TIME_HINT)
    severity = forms.ChoiceField(choices=[(severity, severity) for severity in SEVERITIES])
    channels = forms.MultipleChoiceField(label="Notify", required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, channels: Mapping[str, Channel], *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._channels = channels
        self.rule_values: dict[str, Any] = {}
        set_choices(self, "channels", [(channel, channel) for channel in channels])

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if self.errors:
            return fields
        self.rule_values = _rule_values(fields)
        try:
            self.rule = parse_rule(fields["name"], self.rule_values, self._channels)
        except AlertRulesError as error:
            self.add_error(None, str(error).partition(": ")[2] or str(error))
        return fields


class ChannelForm(forms.Form):
    """A channel of one kind. `settings` are those of the file, when it is valid; secrets are not shown again."""

    name = forms.CharField(max_length=60, help_text="Letters, digits, '.', '-' and '_'.")

    def __init__(self, kind: str, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        wants = CHANNEL_KINDS[kind]
        self._keys = [key for key in CHANNEL_LABELS if key in wants.needs | wants.may_have]
        for key in self._keys:
            widget = forms.PasswordInput(attrs={"autocomplete": "off"}) if key in _SECRETS else forms.TextInput()
            self.fields[key] = forms.CharField(
                label=CHANNEL_LABELS[key], required=key in wants.needs, max_length=TEXT_LENGTH_MAX, widget=widget
            )

    @property
    def settings(self) -> dict[str, str]:
        return {key: self.cleaned_data[key] for key in self._keys if self.cleaned_data[key]}


def _rule_values(fields: Mapping[str, Any]) -> dict[str, Any]:
    kind, _, what = fields["about"].partition(".")
    values: dict[str, Any] = {"severity": fields["severity"], "channels": fields["channels"]}
    for key, field in (("for", "lasting"), ("clear", "clear"), ("repeat", "repeat")):
        if fields.get(field):
            values[key] = fields[field]
    if kind == "health":
        return values | {"health": what}
    values["measure"] = fields["about"]
    if fields.get("threshold") is not None:
        values[fields["is_above"]] = fields["threshold"]
    for key in ("objects", "recover"):
        if fields.get(key) not in (None, ""):
            values[key] = fields[key]
    return values


def initial_of(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the initial values of a kept rule's form."""
    about = values["measure"] if "measure" in values else f"health.{values.get('health')}"
    is_above = "below" not in values
    return {
        **values, "name": name, "about": about, "is_above": "above" if is_above else "below",
        "threshold": values.get("above" if is_above else "below"), "lasting": values.get("for", ""),
    }  # fmt: skip
