"""A proposed change asked for again, in the name of who proposed it: to see its plan as it is now, or to have it done.

It goes through the page it came from (`api/door.py`), so its rights, forms, plans and audit are those of the page.
"""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import Resolver404

from console.kit.gateway.errors import GatewayError
from console.kit.plans.digest import digest_of
from console.kit.plans.plan import Plan
from console.kit.plans.posted import Posted, PostMode
from console.shell.api import door
from console.shell.changes.kept_form import UnreadableError, opened
from console.shell.changes.models import ProposedChange

GONE = "The account that proposed it no longer exists or has lost the right."
UNREADABLE = (
    "The console's key has changed since: what was typed cannot be read any more. Withdraw it and propose it again."
)


@dataclass(frozen=True)
class ReplayedPlan:
    """`plan` None: none can be made now, and `why` says it."""

    plan: Plan | None
    why: str = ""

    def is_same_as(self, other: "ReplayedPlan") -> bool:
        if self.plan is None or other.plan is None:
            return False
        return digest_of(self.plan, None) == digest_of(other.plan, None)

    def is_as_proposed(self, change: ProposedChange) -> bool:
        return self.plan is not None and digest_of(self.plan, None) == change.content


def look(change: ProposedChange, person: User | None) -> ReplayedPlan:
    """Return the plan for the current state, as if `person` made it."""
    if person is None or not person.is_active:
        return ReplayedPlan(None, GONE)
    try:
        posted = _posted(change, PostMode.LOOK)
    except UnreadableError:
        return ReplayedPlan(None, UNREADABLE)
    why = _replay(person, posted).why
    return ReplayedPlan(posted.plan, "" if posted.plan else why)


@dataclass(frozen=True)
class ReplayOutcome:
    is_done: bool
    why: str = ""
    messages: tuple[str, ...] = ()


def carry_out(change: ProposedChange, approver: User, digest: str, note: str, emergency: str = "") -> ReplayOutcome:
    """Carry the change out if its plan still has the digest that `approver` confirmed."""
    person = change.actor
    if person is None or not person.is_active:
        return ReplayOutcome(False, GONE)
    try:
        posted = _posted(change, PostMode.APPROVED)
    except UnreadableError:
        return ReplayOutcome(False, UNREADABLE)
    posted.approver, posted.digest, posted.note, posted.emergency = approver, digest, note, emergency
    return _replay(person, posted)


def _posted(change: ProposedChange, mode: PostMode) -> Posted:
    """Raises UnreadableError."""
    query = tuple((str(name), str(value)) for name, value in change.query)
    return Posted(change.path, query, opened(change.form), mode=mode)


def _replay(person: User, posted: Posted) -> ReplayOutcome:
    form = [*posted.form, ("digest", "-"), ("typed_name", "")]
    try:
        answer = door.ask(person, posted.path, posted.query, form, posted)
    except (Http404, Resolver404, PermissionDenied, GatewayError) as error:
        reason = error.args[0] if error.args and isinstance(error.args[0], str) else ""
        return ReplayOutcome(False, reason or "Its object no longer exists, or the proposer may not see it.")
    if answer.has_led_on:
        return ReplayOutcome(True, messages=answer.messages)
    return ReplayOutcome(False, door.why_of(answer) or "It was not carried out.")
