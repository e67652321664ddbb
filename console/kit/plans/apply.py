"""Carrying out a plan: checked against its confirmation, done once, and in the audit whatever happens."""

from collections.abc import Callable, Mapping

from django.contrib.auth.models import User

from console.kit.audit.record import record_event
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.plans.digest import digest_of
from console.kit.plans.gate import ChangeRefusedNow, HeldError, confirmation_of, pass_gate
from console.kit.plans.plan import Confirmation, NameNotTypedError, NotConfirmedError, Plan, check
from console.kit.plans.posted import goes_on, posted_now

#: What an audit row has room for; the name of a group may be longer.
OBJECT_NAME_LENGTH_MAX = 255

#: The name of each thing that was refused → a sentence why. Empty: everything was done.
Refusals = Mapping[str, str]


def carry_out(actor: User, plan: Plan, confirmation: Confirmation, do: Callable[[], Refusals | None]) -> Refusals:
    """Do `plan`, which was made a moment ago from what is true now; what was refused of it, by name.

    An empty plan is done by doing nothing. Raises NotConfirmedError before anything is done, HeldError among them
    where rules have it wait, and GatewayError if nothing could be done. Whatever else `do` raises may have come in the
    middle of it.
    """
    confirmation = confirmation_of(plan, actor, confirmation)
    try:
        check(plan, confirmation, digest_of(plan, actor))
        if plan.is_empty:
            return {}
        pass_gate(plan, actor)
        with goes_on():
            refused = do() or {}
    except (NameNotTypedError, HeldError):
        raise
    except (NotConfirmedError, GatewayError) as error:
        is_refused = isinstance(error, NotConfirmedError | RefusedError)
        _record(actor, plan, "refused" if is_refused else "failed", str(error))
        raise
    except Exception as error:
        _record(actor, plan, "failed", f"{type(error).__name__}: {error}")
        raise
    posted = posted_now()
    note = f"{posted.note} " if posted and posted.note and posted.plan is plan else ""
    detail = note + "; ".join(f"{name}: {why}" for name, why in sorted(refused.items()))
    is_all_refused = bool(refused) and len(refused) >= len(plan.lines)
    _record(actor, plan, "refused" if is_all_refused else "done", detail.strip())
    return refused


def ask_rules(actor: User, plan: Plan) -> None:
    """Check the rules of changes before an immediate action, which confirms itself.

    Raises NotConfirmedError if it must not be done.
    """
    now = digest_of(plan, actor)
    check(plan, confirmation_of(plan, actor, Confirmation(now)), now)
    try:
        pass_gate(plan, actor)
    except ChangeRefusedNow as error:
        _record(actor, plan, "refused", str(error))
        raise


def _record(actor: User, plan: Plan, result: str, detail: str) -> None:
    name = plan.object_name[:OBJECT_NAME_LENGTH_MAX]
    record_event(actor, plan.action, plan.object_type, name, plan.before, plan.after, result=result, detail=detail)
