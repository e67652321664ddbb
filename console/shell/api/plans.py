"""A plan by its action's name: shown with its digest, and carried out by who sends that back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse

from console.kit.access.read_only import read_only_now
from console.kit.features.api import ApiAction
from console.kit.plans.digest import digest_of
from console.kit.plans.gate import ChangeRefusedNow, the_gate
from console.kit.plans.plan import Plan
from console.kit.plans.posted import Posted
from console.shell.api import door
from console.shell.api.actions import BadParameter, Parameters, pairs_of, path_of, refuse_confirmation_fields

_NO_PLAN = "There is no plan for this, as things are."
#: A page that was posted to and is to be looked at again: what stood against it.
_WRONG = 422


class NotDone(Exception):
    """Nothing was changed; `str(error)` says why. `plan`: for how it is now, if there is one."""

    def __init__(self, sentence: str, status: int, plan: dict[str, Any] | None = None):
        super().__init__(sentence)
        self.status, self.plan = status, plan


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What is sent to have a plan carried out; `reason`: for the approver, if it has to wait."""

    digest: str
    typed_name: str = ""
    reason: str = ""
    emergency: str = ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        pairs = {"digest": self.digest, "typed_name": self.typed_name}
        pairs |= {"reason_to_change": self.reason, "emergency": self.emergency}
        return [(name, value) for name, value in pairs.items() if value]


def show(person: User, action: ApiAction, parameters: Parameters) -> dict[str, Any]:
    """Return the plan as JSON can write it; nothing is carried out, whatever `parameters` say.

    Raises NotDone, BadParameter, and what views raise.
    """
    path = _path(action.page, path_of(action, parameters))
    if action.is_at_once:
        raise NotDone(f"{action.name} has no plan: apply it without a digest.", 409)
    form = pairs_of(action, parameters, action.form) if action.form else None
    answer = door.look(person, path, pairs_of(action, parameters, action.query), form)
    plan = _plan_of(answer, person, action, parameters)
    if plan is None:
        raise NotDone(door.why_of(answer) or _NO_PLAN, _status(answer))
    _refuse_left_out(parameters, plan["apply"]["parameters"], action)
    return plan


def carry_out(person: User, action: ApiAction, parameters: Parameters, confirmed: Confirmed) -> dict[str, Any]:
    """Carry out an action with `parameters` as the plan gave them under `apply`. Raises as `show`, and NotDone while
    changes are off.
    """
    _refuse_if_read_only()
    refuse_confirmation_fields(parameters)
    if not confirmed.digest and not action.is_at_once:
        raise NotDone("Send the digest of the plan that is to be carried out.", _WRONG)
    named = {name: parameters[name] for name in action.path if name in parameters}
    path = _path(action.route, path_of(action, named))
    form = [pair for name, value in parameters.items() if name not in action.path for pair in _pairs(name, value)]
    answer = door.ask(person, path, (), form + confirmed.pairs)
    if answer.posted and answer.posted.held:
        return _proposed(person, answer.posted)
    if answer.has_led_on:
        return {"applied": True, "messages": list(answer.messages)}
    plan = _plan_of(answer, person, action, parameters)
    raise NotDone(door.why_of(answer) or "Nothing was changed.", _status(answer), plan)


def _proposed(person: User, posted: Posted) -> dict[str, Any]:
    """Raises NotDone if it cannot wait."""
    try:
        kept = the_gate().propose(person, posted)
    except ChangeRefusedNow as error:
        raise NotDone(str(error), error.status) from None
    return {"applied": False, "messages": [kept.sentence], "change": kept.number, "address": kept.address}


def _status(answer: door.PageResponse) -> int:
    return answer.response.status_code if answer.response.status_code >= 400 else _WRONG


def _refuse_left_out(parameters: Parameters, planned: Parameters, action: ApiAction) -> None:
    """Refuse parameters that the action ignores; a page leaves them out silently, because a person sees that there."""
    for name in parameters.keys() & planned.keys() - set(action.path):
        if len(_listed(parameters[name])) > len(_listed(planned[name])):
            raise NotDone(f"Of what {name} names not everything can be changed by {action.name}.", _WRONG)


def _path(route: str, values: Mapping[str, str]) -> str:
    try:
        return reverse(route, kwargs=dict(values))
    except NoReverseMatch:
        raise BadParameter(f"There is nothing of this name: {', '.join(values.values())[:200]}.") from None


def _refuse_if_read_only() -> None:
    for mode in read_only_now().values():
        raise NotDone(f"{mode} Nothing was changed.", 423)


def _plan_of(
    answer: door.PageResponse, person: User, action: ApiAction, parameters: Parameters
) -> dict[str, Any] | None:
    plan = answer.shown.get("plan")
    if not isinstance(plan, Plan):
        return None
    again: dict[str, Any] = {name: parameters[name] for name in action.path if name in parameters}
    for name, value in _fields(answer.shown.get("fields", ())):
        again[name] = [*_listed(again[name]), value] if name in again and name not in action.path else value
    return {
        "action": plan.action,
        "object_type": plan.object_type,
        "object_name": plan.object_name,
        "changes": [{"name": line.name, "old": _plain(line.old), "new": _plain(line.new)} for line in plan.lines],
        "touches": list(plan.touches),
        "losses": list(plan.losses),
        "undo": plan.undo,
        "command": plan.command,
        "obstacle": plan.obstacle,
        "typed_name": plan.typed_name,
        "waits": held.sentence if (held := the_gate().outlook(plan)) else "",
        "digest": digest_of(plan, person),
        "apply": {"action": action.name, "parameters": again},
    }


def _fields(fields: Iterable[tuple[str, object]]) -> Iterable[tuple[str, str]]:
    """Yield fields as the page's form would send them."""
    for name, value in fields:
        for entry in value if isinstance(value, list | tuple | set | frozenset) else (value,):
            yield name, "" if entry is None else str(entry)


def _pairs(name: str, value: str | list[str]) -> list[tuple[str, str]]:
    return [(name, item) for item in _listed(value)]


def _listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]


def _plain(value: object) -> object:
    """Return the value as JSON has it, or as the page would write it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return str(value)
