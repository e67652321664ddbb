"""The request by which a plan is confirmed: what a change that has to wait is asked for again with, by somebody else.

It is of the thread or task that answers the request. Where there is none (the beat goes on with what was confirmed
before), nothing can be made to wait.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

from django.contrib.auth.models import User
from django.http import HttpRequest

from console.kit.plans.plan import Plan

Pairs = tuple[tuple[str, str], ...]
#: Of a form what belongs to one confirmation, or to one browser: not kept with a change that waits.
_OWN = frozenset({"csrfmiddlewaretoken", "digest", "typed_name", "emergency"})
#: Fields of a form that confirm a plan. No parameter of a plan has such a name.
CONFIRMATION_FIELDS = _OWN | {"reason_to_change"}


class PostMode(StrEnum):
    """`LOOK`: only the plan is wanted, and `carry_out` refuses every plan. `APPROVED`: what a second person has
    confirmed is carried out."""

    ASK = "ask"
    LOOK = "look"
    APPROVED = "approved"


@dataclass(frozen=True, slots=True)
class PlanHold:
    """A plan that is not carried out now. `can_wait`: somebody may propose it; `sentence` says why, and what then."""

    sentence: str
    can_wait: bool
    needs_person: bool = False
    #: It is not the time for it.
    is_closed: bool = False
    #: The names of the rules that say so.
    rules: tuple[str, ...] = ()


@dataclass
class Posted:
    """`plan`: the one that was about to be carried out; `held`: why it was not, if it waits from now on."""

    path: str
    query: Pairs = ()
    form: Pairs = ()
    emergency: str = ""
    mode: PostMode = PostMode.ASK
    #: Of APPROVED: who has confirmed what, and in the audit's words.
    approver: User | None = None
    digest: str = ""
    note: str = ""
    plan: Plan | None = field(default=None)
    held: PlanHold | None = field(default=None)

    @classmethod
    def of(cls, request: HttpRequest) -> "Posted":
        return cls(
            request.path_info,
            _pairs(request.GET.lists()),
            _pairs(request.POST.lists()) if request.method == "POST" else (),
            request.POST.get("emergency", "").strip()[:500] if request.method == "POST" else "",
        )


_posted: ContextVar[Posted | None] = ContextVar("posted", default=None)
_goes_on: ContextVar[bool] = ContextVar("goes_on", default=False)


def posted_now() -> Posted | None:
    return _posted.get()


@contextmanager
def posting(posted: Posted) -> Iterator[Posted]:
    """Carry out the block as requested by `posted`."""
    before = _posted.set(posted)
    try:
        yield posted
    finally:
        _posted.reset(before)


@contextmanager
def goes_on() -> Iterator[None]:
    """Carry out the block as part of what was confirmed, such as the drain of a decommission."""
    before = _goes_on.set(True)
    try:
        yield
    finally:
        _goes_on.reset(before)


def is_part_of_confirmed() -> bool:
    return _goes_on.get()


def _pairs(lists: Iterable[tuple[str, Iterable[object]]]) -> Pairs:
    pairs = ((str(name), str(value)) for name, values in lists for value in values)
    return tuple(pair for pair in pairs if pair[0] not in _OWN)
