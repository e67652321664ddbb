"""What stands between a confirmed plan and its being carried out: rules that ask for a second person, or for a time.

The rules are `changes`', which sits far above and declares the gate. Without one nothing is carried out at all.
"""

from collections.abc import Callable
from typing import Protocol

from django.contrib.auth.models import User

from console.kit.common.hook_point import HookPoint
from console.kit.plans.digest import digest_of
from console.kit.plans.plan import Confirmation, NotConfirmedError, Plan
from console.kit.plans.posted import PlanHold, Posted, PostMode, is_part_of_confirmed, posted_now


class PendingChange(Protocol):
    """A change that waits: what its requester is told, and its address."""

    @property
    def number(self) -> int: ...

    @property
    def sentence(self) -> str: ...

    @property
    def address(self) -> str: ...


class Gate(Protocol):
    def hold(self, plan: Plan, actor: User, posted: Posted | None) -> PlanHold | None:
        """Return why `plan` must wait; None if it may be carried out. Emergency exceptions are audited."""
        ...

    def outlook(self, plan: Plan) -> PlanHold | None:
        """Return whether `plan` would wait if it were confirmed now, by anybody."""
        ...

    def propose(self, actor: User, posted: Posted) -> PendingChange:
        """Keep what is held. Raises NotConfirmedError if it cannot wait."""
        ...


class HeldError(NotConfirmedError):
    """It waits from now on."""

    status = 202


class ChangeRefusedNow(NotConfirmedError):
    """It is refused as things are, and does not wait."""

    status = 409


class OnlyLookedAtError(NotConfirmedError):
    """Only the plan was wanted."""


GATE = HookPoint[Callable[[], Gate]]("console.kit.plans.gate.GATE")


def the_gate() -> Gate:
    """Raises ValueError unless exactly one feature declares a gate."""
    (gate,) = GATE
    return gate()


def confirmation_of(plan: Plan, actor: User, confirmation: Confirmation) -> Confirmation:
    """Return the confirmation of `plan`: the one sent, or the approver's.

    Raises OnlyLookedAtError where it is only looked at.
    """
    posted = posted_now()
    if posted is None or is_part_of_confirmed():
        return confirmation
    posted.plan = plan
    if posted.mode is PostMode.LOOK:
        raise OnlyLookedAtError("Only the plan was requested.")
    if posted.mode is PostMode.APPROVED:
        is_same = digest_of(plan, posted.approver) == posted.digest
        return Confirmation(digest_of(plan, actor) if is_same else "", plan.typed_name)
    return confirmation


def pass_gate(plan: Plan, actor: User) -> None:
    """Raises HeldError, NotNowError."""
    if is_part_of_confirmed():
        return
    posted = posted_now()
    hold = the_gate().hold(plan, actor, posted)
    if hold is None:
        return
    if posted is None or posted.mode is PostMode.APPROVED or not hold.can_wait:
        raise ChangeRefusedNow(hold.sentence)
    posted.held = hold
    raise HeldError(hold.sentence)
