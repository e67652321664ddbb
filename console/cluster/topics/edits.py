"""Which settings of a topic somebody wants to change, and to what: as many in one change as a person can read. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from console.cluster.topics.settings_plan import changeable
from console.kit.gateway.retention.interface import SettingView
from console.kit.gateway.topics.setting_rules import topic_value_refusal
from console.kit.plans.setting import DEFAULT, plain_value

VALUE_LENGTH_MAX = 2_000
#: More settings than a topic's form has room for.
EDITS_MAX = 12


@dataclass(frozen=True, slots=True)
class Edit:
    """`value` is empty as long as nothing was typed."""

    name: str
    value: str = ""

    @property
    def refusal(self) -> str:
        """Why no plan is made of it: what no broker would take is told before anything is confirmed."""
        return "" if self.value in ("", DEFAULT) else topic_value_refusal(self.name, self.value)


@dataclass(frozen=True, slots=True)
class Chosen:
    """An edit with the setting as it is now; `without` is the address of the others alone."""

    edit: Edit
    setting: SettingView
    without: str

    @property
    def now(self) -> str:
        return self.edit.value or self.setting.value or ""


def read_edits(parameters: QueryDict) -> tuple[Edit, ...]:
    """Pairs of `setting` and `value`, and `also`, which has no value yet. Of a name that comes twice the last."""
    values = parameters.getlist("value")
    found: dict[str, Edit] = {}
    for number, name in enumerate(parameters.getlist("setting")):
        value = values[number] if number < len(values) else ""
        found[name] = Edit(name, plain_value(name, value.strip()[:VALUE_LENGTH_MAX]))
    if (also := parameters.get("also", "")) and also not in found:
        found[also] = Edit(also)
    return tuple(each for each in found.values() if each.name)[:EDITS_MAX]


def chosen_edits(edits: Iterable[Edit], settings: Iterable[SettingView]) -> tuple[Chosen, ...]:
    """Those of settings there are to change here."""
    known = changeable(settings)
    edits = [each for each in edits if each.name in known]
    return tuple(
        Chosen(each, known[each.name], address_of(other for other in edits if other is not each)) for each in edits
    )


def address_of(edits: Iterable[Edit]) -> str:
    """The query of a page that shows them."""
    return urlencode([pair for each in edits for pair in (("setting", each.name), ("value", each.value))])
