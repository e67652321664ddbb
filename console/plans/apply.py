"""Carrying out a plan: checked against its confirmation, done once, and in the audit whatever happens."""

from collections.abc import Callable, Mapping

from django.contrib.auth.models import User

from console.audit.record import record_event
from console.gateway.errors import GatewayError, RefusedError
from console.plans.digest import digest_of
from console.plans.plan import Confirmation, NameNotTypedError, NotConfirmedError, Plan, check

#: What an audit row has room for; the name of a group may be longer.
OBJECT_NAME_LENGTH_MAX = 255

#: The name of each thing that was refused → a sentence why. Empty: everything was done.
Refusals = Mapping[str, str]


def carry_out(actor: User, plan: Plan, confirmation: Confirmation, do: Callable[[], Refusals | None]) -> Refusals:
    """Do `plan`, which was made a moment ago from what is true now; what was refused of it, by name.

    An empty plan is done by doing nothing. Raises NotConfirmedError before anything is done, and GatewayError if
    nothing could be done. Whatever else `do` raises may have come in the middle of it.
    """
    try:
        check(plan, confirmation, digest_of(plan, actor))
        if plan.is_empty:
            return {}
        refused = do() or {}
    except NameNotTypedError:
        raise
    except (NotConfirmedError, GatewayError) as error:
        is_refused = isinstance(error, NotConfirmedError | RefusedError)
        _record(actor, plan, "refused" if is_refused else "failed", str(error))
        raise
    except Exception as error:
        _record(actor, plan, "failed", f"{type(error).__name__}: {error}")
        raise
    detail = "; ".join(f"{name}: {why}" for name, why in sorted(refused.items()))
    is_all_refused = bool(refused) and len(refused) >= len(plan.lines)
    _record(actor, plan, "refused" if is_all_refused else "done", detail)
    return refused


def _record(actor: User, plan: Plan, result: str, detail: str) -> None:
    name = plan.object_name[:OBJECT_NAME_LENGTH_MAX]
    record_event(actor, plan.action, plan.object_type, name, plan.before, plan.after, result=result, detail=detail)
