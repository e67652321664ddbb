"""A change before it is made: what it is worked out from, writes, touches and loses, and how it is undone. Pure.

A plan is made anew from what is true now each time it is looked at. What a person confirms is its digest
(`plans/digest.py`); a plan with another digest is another change, and is refused.

Lines show a change, and the audit keeps them. What is sent to the cluster is a field of its own, of a subclass for each
kind of change (`SettingsPlan.wanted`), so that no line is read back; the digest covers both.
"""

import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from datetime import datetime

#: Values named in an audit row; beyond it their number.
NAMED_MAX = 50

#: A field that says the change in other words, or what comes of it in figures that go on changing: shown, and not part
#: of what is confirmed. Every other field is.
_TOLD = {"is_told": True}


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One value that is written. None: there is no value (before), or it is taken away (after).

    `is_told`: its values change by themselves while somebody reads (records, states), so only its name is confirmed.
    """

    name: str
    old: object
    new: object
    is_told: bool = False

    @property
    def confirmed(self) -> list[object]:
        return [self.name] if self.is_told else [self.name, self.old, self.new]


@dataclass(frozen=True, slots=True)
class Plan:
    """`action` is the audit's word for it; `read` names everything the plan hangs on, one text each."""

    action: str
    object_type: str
    object_name: str
    lines: tuple[PlanLine, ...]
    read: tuple[str, ...]
    #: Sentences: whom and what it touches, and what is lost for good.
    touches: tuple[str, ...] = field(default=(), metadata=_TOLD)
    losses: tuple[str, ...] = field(default=(), metadata=_TOLD)
    #: Why no data, availability or access is lost; empty: that is not stated, and no page calls the plan safe.
    safe_because: str = field(default="", metadata=_TOLD)
    #: How it is taken back; empty: it cannot be.
    undo: str = ""
    #: The same change at a shell.
    command: str = field(default="", metadata=_TOLD)
    #: What has to be typed to confirm it; empty: nothing.
    typed_name: str = ""
    #: Names of what it is about, where that is more, or another, than `object_name`; one that ends with * stands for
    #: all that begin so.
    about: tuple[str, ...] = field(default=(), metadata=_TOLD)
    #: The plans it is made of.
    parts: tuple["Plan", ...] = field(default=(), metadata=_TOLD)
    #: Names of clusters that it is about, where those are others than the one whose pages it is planned on.
    clusters: tuple[str, ...] = field(default=(), metadata=_TOLD)
    #: When what is confirmed now begins; None: at once. Windows and freezes are asked about that moment.
    begins_at: datetime | None = field(default=None, metadata=_TOLD)
    #: Why it cannot be done now; empty: it can. Looked at again when it is confirmed.
    obstacle: str = field(default="", metadata=_TOLD)

    @property
    def confirmed(self) -> dict[str, object]:
        """What a digest of this plan covers, as JSON."""
        values = {
            member.name: _plain(getattr(self, member.name))
            for member in fields(self)
            if "is_told" not in member.metadata
        }
        when = {} if self.begins_at is None else {"begins_at": str(self.begins_at)}
        return values | when | {"lines": [line.confirmed for line in self.lines]}

    @property
    def is_empty(self) -> bool:
        return not self.lines

    @property
    def is_harmful(self) -> bool:
        """Whether something is lost, or the name has to be typed: the button that confirms it is red."""
        return bool(self.losses or self.typed_name)

    @property
    def tone(self) -> str:
        """Return the tone of the plan's first line, a class of the stylesheets; empty: neither safe nor harmful."""
        if self.losses:
            return "critical"
        if self.typed_name:
            return "warning"
        return "ok" if self.safe_because else ""

    @property
    def before(self) -> dict[str, object]:
        return _named({line.name: line.old for line in self.lines})

    @property
    def after(self) -> dict[str, object]:
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


def check(plan: Plan, confirmation: Confirmation, digest: str) -> None:
    """Raise the reason why `confirmation` does not allow `plan`, whose digest is `digest`, if there is one."""
    if not hmac.compare_digest(confirmation.digest.encode(), digest.encode()):
        raise MovedOnError(
            f"What this plan to {plan.action} was worked out from has changed since it was shown. "
            "Nothing was changed; below is the plan for how it is now."
        )
    if plan.obstacle:
        raise ObstacleError(plan.obstacle)
    if plan.typed_name and confirmation.typed_name != plan.typed_name:
        raise NameNotTypedError(f"Nothing was changed: type the name exactly, {plan.typed_name}.")


def _plain(value: object) -> object:
    """Return `value` as JSON can write it: a mapping, whose keys may be tuples, as its sorted pairs."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    return [list(pair) for pair in sorted(value.items())] if isinstance(value, Mapping) else value


def _named(values: dict[str, object]) -> dict[str, object]:
    named = dict(list(values.items())[:NAMED_MAX])
    more = len(values) - len(named)
    return {**named, "and more": more} if more else named
