"""A schema, and settings of a subject, as a person types them."""

from typing import Any

from django import forms

from console.cluster.schemas.registry import LEVELS, MODES, TYPES, RegisteredText, TextReference
from console.kit.common.form_choices import set_choices

#: A registry takes no more.
TEXT_LENGTH_MAX = 900_000
SUBJECT_LENGTH_MAX = 249
_REFERENCES_MAX = 100
_AREA = {"spellcheck": "false"}


class SchemaForm(forms.Form):
    subject = forms.CharField(max_length=SUBJECT_LENGTH_MAX, label="Subject")
    type = forms.ChoiceField(choices=[(type_, type_.capitalize()) for type_ in TYPES], label="Type")
    text = forms.CharField(
        max_length=TEXT_LENGTH_MAX, strip=False, label="Schema", widget=forms.Textarea({**_AREA, "rows": 14})
    )
    references = forms.CharField(
        max_length=20_000, required=False, label="References", widget=forms.Textarea({**_AREA, "rows": 2})
    )

    def clean_references(self) -> tuple[TextReference, ...]:
        lines = [line.split() for line in self.cleaned_data["references"].splitlines() if line.strip()]
        if len(lines) > _REFERENCES_MAX:
            raise forms.ValidationError(f"At most {_REFERENCES_MAX} references.")
        if not all(len(parts) == 3 and parts[2].isdecimal() and len(parts[2]) < 10 for parts in lines):
            raise forms.ValidationError("One reference on a line, as: name subject version.")
        return tuple(TextReference(name, subject, int(version)) for name, subject, version in lines)

    @property
    def schema(self) -> RegisteredText:
        """The schema of a valid form."""
        return RegisteredText(
            self.cleaned_data["text"].replace("\r\n", "\n"), self.cleaned_data["type"], self.cleaned_data["references"]
        )

    @property
    def fields_again(self) -> list[tuple[str, str]]:
        """The form fields that make the same plan again."""
        return [(name, self.data.get(name, "")) for name in self.fields]


class SettingsForm(forms.Form):
    """Settings of a subject, where nothing chosen is the default of all; or of all."""

    level = forms.ChoiceField(required=False, label="Compatibility")
    mode = forms.ChoiceField(required=False, label="Mode")

    def __init__(self, *args: Any, is_default: bool, **named: Any):
        super().__init__(*args, **named)
        inherited = [] if is_default else [("", "the default of all subjects")]
        level = set_choices(self, "level", [*inherited, *((level, level) for level in LEVELS)])
        mode = set_choices(self, "mode", [*inherited, *((mode, mode) for mode in MODES)])
        level.required = mode.required = is_default

    @property
    def wanted(self) -> tuple[str | None, str | None]:
        return self.cleaned_data["level"] or None, self.cleaned_data["mode"] or None

    @property
    def fields_again(self) -> list[tuple[str, str]]:
        return [(name, self.cleaned_data[name]) for name in self.fields]
