"""What a person may type about retention. The broker has the last word; this spares it what cannot be right."""

from django import forms

from console.gateway.interface import TOPIC_NAME_LENGTH_MAX
from console.retention.plan import DEFAULT

_POLICIES = [("", "as it is"), ("delete", "delete"), ("compact", "compact"), ("compact,delete", "compact,delete")]


class _NumberOrDefault(forms.CharField):
    """A whole number from -1, or the word default; blank leaves it as it is."""

    def clean(self, value):
        text = (super().clean(value) or "").replace("\u202f", "").replace(" ", "").lower()
        if text in ("", DEFAULT, "-1") or (text.isascii() and text.isdigit() and len(text) <= 18):
            return text
        raise forms.ValidationError("A whole number, -1 for no limit, or the word default.")


class RetentionForm(forms.Form):
    """`changes` are the typed texts by the setting's name."""

    cleanup_policy = forms.ChoiceField(
        label="cleanup.policy", required=False, choices=[*_POLICIES, (DEFAULT, "default")]
    )
    retention_ms = _NumberOrDefault(label="retention.ms", required=False, max_length=24)
    retention_bytes = _NumberOrDefault(label="retention.bytes", required=False, max_length=24)

    @property
    def changes(self) -> dict[str, str]:
        return {name.replace("_", "."): self.cleaned_data.get(name, "") for name in self.fields}


class ApplyForm(RetentionForm):
    """With what confirms it: the digest of the values the plan started from, and the name where records go."""

    digest = forms.CharField(max_length=64)
    typed_name = forms.CharField(required=False, max_length=TOPIC_NAME_LENGTH_MAX)

    @property
    def changes(self) -> dict[str, str]:
        return {name.replace("_", "."): self.cleaned_data.get(name, "") for name in RetentionForm.base_fields}
