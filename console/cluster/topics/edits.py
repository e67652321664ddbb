"""Which settings of a topic somebody wants to change, and to what: as many in one change as a person can read. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict

from console.cluster.topics.settings_plan import changeable
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.retention.interface import SettingView
from console.kit.plans.setting import DEFAULT, plain_value

VALUE_LENGTH_MAX = 2_000
#: More settings than a topic's form has room for.
EDITS_MAX = 12


@dataclass(frozen=True, slots=True)
class Edit:
    """`value` is empty as long as nothing was typed; `refusal` is why the cluster does not take it."""

    name: str
    value: str = ""
    refusal: str = ""

    @property
    def change(self) -> dict[str, str | None]:
        return {self.name: None if self.value == DEFAULT else self.value}


def checked(edits: Sequence[Edit], check: Callable[[Mapping[str, str | None]], None]) -> tuple[Edit, ...]:
    """Return the edits, each with why the cluster refuses it; it, and not our table, knows its keys and values.

    `check` raises RefusedError for a change that the cluster does not take. Values that are only refused together are
    so at the last of them.
    """
    typed = [edit for edit in edits if edit.value]
    together = _refusal_of({name: value for edit in typed for name, value in edit.change.items()}, check)
    if not together:
        return tuple(edits)
    refusals = {edit.name: _refusal_of(edit.change, check) for edit in typed}
    if not any(refusals.values()):
        refusals[typed[-1].name] = together
    return tuple(replace(edit, refusal=refusals.get(edit.name, "")) for edit in edits)


def _refusal_of(changes: Mapping[str, str | None], check: Callable[[Mapping[str, str | None]], None]) -> str:
    try:
        if changes:
            check(changes)
    except RefusedError as error:
        return f"{str(error).rstrip('.')}."
    return ""


@dataclass(frozen=True, slots=True)
class ChosenEdit:
    """An edit with the setting as it is now; `without` is the address of the others alone."""

    edit: Edit
    setting: SettingView
    without: str

    @property
    def now(self) -> str:
        return self.edit.value or self.setting.value or ""


def read_edits(parameters: QueryDict) -> tuple[Edit, ...]:
    """Parse pairs of `setting` and `value`, and `also`, which has no value yet. The last one of a name counts."""
    values = parameters.getlist("value")
    edits: dict[str, Edit] = {}
    for number, name in enumerate(parameters.getlist("setting")):
        value = values[number] if number < len(values) else ""
        edits[name] = Edit(name, plain_value(name, value.strip()[:VALUE_LENGTH_MAX]))
    if (also := parameters.get("also", "")) and also not in edits:
        edits[also] = Edit(also)
    return tuple(edit for edit in edits.values() if edit.name)[:EDITS_MAX]


def chosen_edits(edits: Iterable[Edit], settings: Iterable[SettingView]) -> tuple[ChosenEdit, ...]:
    """Return the edits of settings that can be changed here."""
    known = changeable(settings)
    edits = [edit for edit in edits if edit.name in known]
    return tuple(
        ChosenEdit(edit, known[edit.name], address_of(other for other in edits if other is not edit)) for edit in edits
    )


def address_of(edits: Iterable[Edit]) -> str:
    """Return the query of a page that shows the edits."""
    return urlencode([pair for edit in edits for pair in (("setting", edit.name), ("value", edit.value))])
