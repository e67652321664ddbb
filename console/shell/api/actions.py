"""What can be planned and carried out: the pages of plans that features declare, and the parameters that each takes."""

import re
from collections.abc import Iterable, Mapping

from console.kit.features.api import ApiAction
from console.kit.features.listed import features
from console.kit.features.order import in_order
from console.kit.plans.posted import CONFIRMATION_FIELDS

#: A value, or several of one name.
Parameters = Mapping[str, str | list[str]]
Pairs = list[tuple[str, str]]
_HALF_OF_A_CHARACTER = re.compile(r"[\ud800-\udfff]")


class BadParameter(Exception):
    """The message is a sentence that names it."""


def path_of(action: ApiAction, parameters: Parameters) -> dict[str, str]:
    """Raises BadParameter for one that is missing or none of this action's."""
    refuse_confirmation_fields(parameters)
    for name in parameters:
        if not any(_is(name, known) for known in action.parameters):
            known = ", ".join(action.parameters) or "none"
            raise BadParameter(f"{action.name} has no parameter {name[:60]}; it has {known}.")
    values = {}
    for name in action.path:
        value = parameters.get(name)
        if not isinstance(value, str) or not value:
            raise BadParameter(f"{action.name} needs the parameter {name}.")
        values[name] = value
    return values


def pairs_of(action: ApiAction, parameters: Parameters, known: Iterable[str]) -> Pairs:
    """Return those of `parameters` that `known` names."""
    chosen = [name for name in parameters if name not in action.path and any(_is(name, item) for item in known)]
    return [(name, value) for name in chosen for value in _values(parameters[name])]


def refuse_confirmation_fields(names: Iterable[str]) -> None:
    """Raise BadParameter if a field of the form that confirms a plan is among `names`: a page would take it as such."""
    if refused := sorted(CONFIRMATION_FIELDS.intersection(names)):
        raise BadParameter(
            f"{refused[0]} is no parameter of a plan: plans/apply has a field of its own for all that confirms one."
        )


def _is(name: str, known: str) -> bool:
    return name.startswith(known[:-1]) if known.endswith("*") else name == known


def _values(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


ACTIONS: dict[str, ApiAction] = {action.name: action for action in in_order(feature.actions for feature in features())}


def action_named(name: str) -> ApiAction:
    """Raises BadParameter."""
    if name not in ACTIONS:
        raise BadParameter(f"There is no action {name[:60]}; GET actions lists them.")
    return ACTIONS[name]


def texts(parameters: Mapping[str, object]) -> dict[str, str | list[str]]:
    """Return numbers, texts and switches, or lists of them, as a form has them. Raises BadParameter."""
    return {
        _text(name): [_text(item) for item in value] if isinstance(value, list) else _text(value)
        for name, value in parameters.items()
    }


def _text(value: object) -> str:
    """Return a parameter as a form's text: `on` for true. Refuses half a surrogate pair, which JSON can carry."""
    text = ("on" if value else "") if isinstance(value, bool) else str(value)
    if _HALF_OF_A_CHARACTER.search(text):
        raise BadParameter("Half of a character (a lone surrogate) stands in this.")
    return text
