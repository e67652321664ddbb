"""The form of a connector, made from what its plugin declares; and the same as JSON. Whether a value is right is
Connect's to say, so every field may be left empty here."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from console.ecosystem.connectors.answers import NAME_LENGTH_MAX, VALUE_LENGTH_MAX, KeyView, OffsetView
from console.ecosystem.connectors.masking import is_secret
from console.ecosystem.connectors.typed import (
    TEXT_LENGTH_MAX,
    TypedError,
    from_json,
    from_lines,
    name_problem,
    offsets_from,
    to_lines,
)

#: What the page itself says of a connector.
FIXED = ("name", "connector.class")
_PREFIX = "config:"
#: Kafka's type → what is typed: numbers are texts to Connect.
_NUMBERS = {"INT", "LONG", "SHORT", "DOUBLE"}
_RECOMMENDED_MAX = 50
#: Titles of groups: Kafka calls both Common.
OWN, COMMON = "Of this connector", "Of every connector"
#: What Connect itself asks of connectors, whatever their plugin; `topics` of a sink is what people come for.
_COMMON = re.compile(
    r"tasks\.max(\.enforce)?|(connector|(key|value|header)\.converter)\.plugin\.version|(key|value|header)\.converter"
    r"|config\.action\.reload|transforms|predicates|errors\..*|topic\.creation\..*|exactly\.once\.support"
    r"|transaction\.boundary.*|offsets\.storage\.topic"
)


@dataclass(frozen=True)
class ShownField:
    """A field and what stands below it."""

    field: BoundField
    hint: str
    recommended: tuple[str, ...]

    @property
    def list_id(self) -> str:
        return f"{self.field.auto_id}_values"


@dataclass(frozen=True)
class FieldGroup:
    title: str
    fields: tuple[ShownField, ...]
    is_open: bool


class ConfigForm(forms.Form):
    """`config` as it is shown, secrets masked; `is_new`: its name is asked for too."""

    name = forms.CharField(max_length=NAME_LENGTH_MAX, required=False, strip=True)
    more = forms.CharField(
        label="Other keys",
        required=False,
        max_length=TEXT_LENGTH_MAX,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono"}),
    )

    def __init__(
        self,
        keys: Iterable[KeyView],
        data: Mapping[str, str] | None,
        config: Mapping[str, str],
        *,
        is_new: bool,
        recommended: Mapping[str, tuple[str, ...]],
    ):
        super().__init__(data)
        self._keys = {key.name: key for key in keys if key.name not in FIXED}
        self._kept, self._recommended = config, recommended
        if not is_new:
            del self.fields["name"]
        others = {key: value for key, value in config.items() if key not in self._keys and key not in FIXED}
        self.fields["more"].initial = to_lines(others)
        for key in self._keys.values():
            self.fields[_PREFIX + key.name] = _field(key, config.get(key.name), bool(recommended.get(key.name)))

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if problem := name_problem(name):
            raise forms.ValidationError(problem)
        return name

    def clean_more(self) -> dict[str, str]:
        try:
            return from_lines(self.cleaned_data["more"])
        except TypedError as error:
            raise forms.ValidationError(str(error)) from None

    @property
    def typed(self) -> dict[str, str]:
        """Keys with a value; a secret that was left empty is what it was."""
        values: dict[str, str] = dict(self.cleaned_data["more"])
        for key in self._keys:
            value = self.cleaned_data[_PREFIX + key]
            if not value and _is_hidden(self._keys[key]):
                value = self._kept.get(key, "")
            if value:
                values[key] = value
        return values

    def refuse(self, key: str, why: str) -> None:
        name = _PREFIX + key if _PREFIX + key in self.fields else key if key == "name" and key in self.fields else None
        self.add_error(name, why if name else f"{key}: {why}")

    @property
    def groups(self) -> list[FieldGroup]:
        """The form's groups in the plugin's order; open if they have required, filled or wrong fields."""
        titles = dict.fromkeys(_title(key) for key in self._keys.values())
        ordered = sorted(titles, key=lambda title: (title != OWN, title == COMMON))
        return [self._group(title) for title in ordered]

    def _group(self, title: str) -> FieldGroup:
        keys = sorted((key for key in self._keys.values() if _title(key) == title), key=lambda key: key.order)
        names = {_PREFIX + key.name for key in keys}
        is_wanted = title != COMMON and any(key.importance == "HIGH" or key.is_required for key in keys)
        is_open = is_wanted or bool(names & self.errors.keys()) or any(key.name in self._kept for key in keys)
        return FieldGroup(title, tuple(self._shown(key) for key in keys), is_open)

    def _shown(self, key: KeyView) -> ShownField:
        recommended = self._recommended.get(key.name, ())[:_RECOMMENDED_MAX]
        return ShownField(self[_PREFIX + key.name], " ".join(_hints(key)), recommended)


def _title(key: KeyView) -> str:
    if _COMMON.fullmatch(key.name):
        return COMMON
    return OWN if key.group == "Common" else key.group


def _hints(key: KeyView) -> Iterator[str]:
    if key.is_required:
        yield "Required."
    if key.documentation:
        yield key.documentation if key.documentation.endswith((".", "!", "?", ")")) else f"{key.documentation}."
    if key.type == "LIST":
        yield "Several with commas between."


def _is_hidden(key: KeyView) -> bool:
    return key.type == "PASSWORD" or is_secret(key.name)


def _field(key: KeyView, value: str | None, has_list: bool) -> forms.Field:
    made: dict[str, Any] = {"label": key.name, "required": False, "initial": value or ""}
    if key.type == "BOOLEAN":
        default = "Default" if key.default is None else f"Default: {key.default}"
        return forms.ChoiceField(choices=[("", default), ("true", "true"), ("false", "false")], **made)
    attrs: dict[str, str] = {"autocomplete": "off", "spellcheck": "false"}
    if _is_hidden(key):
        attrs |= {"autocomplete": "new-password", "placeholder": "unchanged" if value else ""}
        return forms.CharField(max_length=VALUE_LENGTH_MAX, widget=forms.PasswordInput(attrs=attrs), **made)
    attrs["placeholder"] = key.default or ""
    if key.type in _NUMBERS:
        attrs["inputmode"] = "numeric"
    if has_list:
        attrs["list"] = f"id_{_PREFIX}{key.name}_values"
    return forms.CharField(max_length=VALUE_LENGTH_MAX, widget=forms.TextInput(attrs=attrs), **made)


class JsonForm(forms.Form):
    json = forms.CharField(
        label="Configuration",
        max_length=TEXT_LENGTH_MAX,
        widget=forms.Textarea(attrs={"rows": 18, "spellcheck": "false", "class": "mono"}),
    )

    def clean_json(self) -> dict[str, str]:
        try:
            return from_json(self.cleaned_data["json"])
        except TypedError as error:
            raise forms.ValidationError(str(error)) from None

    def clean(self) -> dict[str, object]:
        """Validate the JSON, in which the name is one of the keys."""
        config = self.cleaned_data.get("json")
        if config is not None and (problem := name_problem(config.get("name", ""))):
            self.add_error("json", problem)
        return self.cleaned_data

    @property
    def typed(self) -> dict[str, str]:
        return {key: value for key, value in self.cleaned_data["json"].items() if key not in FIXED}

    @property
    def name_typed(self) -> str:
        return str(self.cleaned_data["json"]["name"])

    def refuse(self, key: str, why: str) -> None:
        self.add_error("json", f"{key}: {why}")


class OffsetsForm(forms.Form):
    """The form of offsets, in the format of Connect's API."""

    offsets = forms.CharField(
        max_length=TEXT_LENGTH_MAX,
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false", "class": "mono"}),
        help_text="A list of partitions, each with its offset; null takes its own away. What is left out stays.",
    )

    def clean_offsets(self) -> list[OffsetView]:
        try:
            return offsets_from(self.cleaned_data["offsets"])
        except TypedError as error:
            raise forms.ValidationError(str(error)) from None
