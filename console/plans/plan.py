"""A change before it is made: what it is worked out from, writes, touches and loses, and how it is undone. Pure.

A plan is made anew from what is true now each time it is looked at. What a person confirms is its digest; a plan with
another digest is another change, and is refused.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: Values named in an audit row; beyond it their number.
NAMED_MAX = 50


@dataclass(frozen=True, slots=True)
class Line:
    """One value that is written. None: there is no value (before), or it is taken away (after)."""

    name: str
    old: object
    new: object


@dataclass(frozen=True, slots=True)
class Plan:
    """`action` is the audit's word for it; `read` names everything the plan hangs on, one text each."""

    action: str
    object_type: str
    object_name: str
    lines: tuple[Line, ...]
    read: tuple[str, ...]
    #: Sentences: whom and what it touches, and what is lost for good.
    touches: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    #: How it is taken back; empty: it cannot be.
    undo: str = ""
    #: The same change at a shell.
    command: str = ""
    #: What has to be typed to confirm it; empty: nothing.
    typed_name: str = ""
    #: Why it cannot be done now; empty: it can.
    obstacle: str = ""

    @property
    def digest(self) -> str:
        return digest_of(self.read)

    @property
    def is_empty(self) -> bool:
        return not self.lines

    @property
    def before(self) -> dict:
        return _named({line.name: line.old for line in self.lines})

    @property
    def after(self) -> dict:
        return _named({line.name: line.new for line in self.lines})


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What a person sent back from the page that showed the plan."""

    digest: str
    typed_name: str = ""

    @classmethod
    def parse(cls, form: Mapping[str, str]) -> "Confirmation":
        return cls(form.get("digest", "")[:64], form.get("typed_name", "")[:1_024])


class NotConfirmedError(Exception):
    """The plan was not carried out; `str(error)` says why, `status` is the HTTP status of the answer."""

    status = 422


class NameNotTypedError(NotConfirmedError):
    """A destructive plan needs its name typed."""


class ObstacleError(NotConfirmedError):
    """The plan cannot be carried out as things are."""

    status = 409


class MovedOnError(NotConfirmedError):
    """What the plan was worked out from is not so any more."""

    status = 409


def check(plan: Plan, confirmation: Confirmation) -> None:
    """Raise the reason why `confirmation` does not allow `plan`, if there is one."""
    if confirmation.digest != plan.digest:
        raise MovedOnError(
            f"What this plan to {plan.action} was worked out from has changed since it was shown. "
            "Nothing was changed; below is the plan for how it is now."
        )
    if plan.obstacle:
        raise ObstacleError(plan.obstacle)
    if plan.typed_name and confirmation.typed_name != plan.typed_name:
        raise NameNotTypedError(f"Nothing was changed: type the name exactly, {plan.typed_name}.")


def digest_of(texts: Iterable[str]) -> str:
    """Short enough for a form; the length of each text counts, so that no two lists read the same."""
    joined = "".join(f"{len(text)}:{text}" for text in texts)
    return hashlib.sha256(joined.encode()).hexdigest()[:32]


def _named(values: dict[str, object]) -> dict[str, object]:
    named = dict(list(values.items())[:NAMED_MAX])
    more = len(values) - len(named)
    return {**named, "and more": more} if more else named
