"""The form of a job, made from the parameters the job declares: nothing about a job is written here a second time."""

from typing import Any, TypeAlias

from django import forms

from console.kit.gateway.processes.stream_jobs import JobView, Parameter, why_wrong

VALUE_LENGTH_MAX = 1_000
#: A field of the form and what a person should know of it.
_HintedField: TypeAlias = tuple[forms.BoundField, str]
_NAME = r"^[a-z][a-z0-9-]{0,39}$"


class StreamForm(forms.Form):
    """`properties` are the typed values by parameter, those that are as by default left out."""

    name = forms.RegexField(
        regex=_NAME,
        max_length=40,
        label="Name of the stream job",
        error_messages={"invalid": "Lower-case letters, digits and -, beginning with a letter."},
    )

    def __init__(self, job: JobView, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self._job = job
        for parameter in (*job.parameters, *job.common):
            self.fields[parameter.name] = _field(parameter)

    @property
    def of_job(self) -> list[_HintedField]:
        return [(self[parameter.name], hint_of(parameter)) for parameter in self._job.parameters]

    @property
    def common(self) -> list[_HintedField]:
        return [(self[item.name], hint_of(item)) for item in self._job.common]

    @property
    def properties(self) -> dict[str, str]:
        values = {
            parameter.name: self.cleaned_data[parameter.name]
            for parameter in (*self._job.parameters, *self._job.common)
        }
        return {name: text for name, text in values.items() if text and text != self._default(name)}

    def topics(self, names: tuple[str, ...]) -> list[str]:
        """Return the topics without blank ones: outputs are optional."""
        topics = (self.cleaned_data[name] or self._default(name) for name in names)
        return [topic for topic in topics if topic]

    def clean(self) -> dict[str, object]:
        """Validate each value as the job itself will read it."""
        for name, text in list((super().clean() or {}).items()):
            if name == "name" or not text:
                continue
            wrong = "It must not end with a backslash." if text.endswith("\\") else why_wrong(self._job, name, text)
            if wrong:
                self.add_error(name, wrong)
        return self.cleaned_data

    def _default(self, name: str) -> str:
        return next(
            parameter.default or ""
            for parameter in (*self._job.parameters, *self._job.common)
            if parameter.name == name
        )


def _field(parameter: Parameter) -> forms.Field:
    usual: dict[str, Any] = {
        "label": parameter.name,
        "required": parameter.is_required,
        "initial": parameter.default or "",
    }
    choices = parameter.choices or (("true", "false") if parameter.kind == "boolean" else ())
    if choices:
        return forms.ChoiceField(choices=[(choice, choice) for choice in choices], **usual)
    attributes = {"spellcheck": "false", "autocomplete": "off"}
    return forms.CharField(max_length=VALUE_LENGTH_MAX, widget=forms.TextInput(attrs=attributes), **usual)


def hint_of(parameter: Parameter) -> str:
    """Return the declared meaning and limits."""
    limits = [
        f"at least {parameter.at_least:,.0f}" if parameter.at_least is not None else "",
        f"at most {parameter.at_most:,.0f}" if parameter.at_most is not None else "",
    ]
    text = ", ".join(filter(None, limits))
    return f"{parameter.meaning} {text[0].upper()}{text[1:]}." if text else parameter.meaning
