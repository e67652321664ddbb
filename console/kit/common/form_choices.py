"""Choices of a form's field that are known only when the form is made."""

from collections.abc import Iterable

from django.forms import BaseForm, ChoiceField


def set_choices(form: BaseForm, name: str, choices: Iterable[tuple[object, str]]) -> ChoiceField:
    """Let the field `name` offer `choices`: value and label of each. Returns the field.

    Raises TypeError for a field without choices, on which Django would set the attribute and never read it.
    """
    field = form.fields[name]
    if not isinstance(field, ChoiceField):
        raise TypeError(f"{type(form).__name__}.{name} is a {type(field).__name__}: it has no choices.")
    field.choices = list(choices)
    return field
