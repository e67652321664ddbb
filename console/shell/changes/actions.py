"""What people do about changes that wait: approve, carry out, discard. Each is in the audit."""

from collections.abc import Collection
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from console.kit.audit.record import record_event
from console.kit.common.databases import cluster_atomic
from console.kit.plans.apply import OBJECT_NAME_LENGTH_MAX
from console.kit.plans.apply import carry_out as carry_out_plan
from console.kit.plans.inverse import save_inverse
from console.kit.plans.plan import Confirmation, Plan
from console.shell.changes.announce import tell
from console.shell.changes.models import ChangeRule, ProposedChange
from console.shell.changes.replay import ReplayOutcome, carry_out

APPROVE, DISCARD, WITHDRAW, EXPIRE = "approve change", "discard change", "withdraw change", "let change expire"
MAKE = "make waiting change"
#: One that is being carried out for longer has lost who did it.
DOING_MAX = timedelta(minutes=20)
State = ProposedChange.State
_NOT_OVER = frozenset(map(str, (State.WAITING, State.DOING)))


class NotDecidedError(Exception):
    """Its text is one sentence for the user."""


def do_approve(actor: User, change: ProposedChange, digest: str, emergency: str = "") -> ReplayOutcome:
    """Carry the change out in its proposer's name. Raises NotDecidedError."""
    if change.needs_person and actor.pk == change.actor_id:
        raise NotDecidedError("Another user has to approve it: you proposed it.")
    action = APPROVE if change.needs_person else MAKE
    _begin(change, actor)
    note = f"Change {change.pk}, proposed by {change.actor_name}, {action.split()[0]}d by {actor.get_username()}."
    outcome = ReplayOutcome(False, "It ended before it was known what came of it.")
    try:
        outcome = carry_out(change, actor, digest, note, emergency)
    finally:
        with cluster_atomic():
            change.state = State.DONE if outcome.is_done else State.WAITING
            change.outcome = (" ".join(outcome.messages) if outcome.is_done else outcome.why)[:2_000]
            change.decided_by = actor.get_username() if outcome.is_done else ""
            change.decided_at = timezone.now() if outcome.is_done else None
            change.form = [] if outcome.is_done else change.form
            change.save(update_fields=["state", "outcome", "decided_by", "decided_at", "form"])
            _record(actor, action, change, "done" if outcome.is_done else "refused", change.outcome)
            tell()
    return outcome


def do_discard(actor: User, change: ProposedChange, why: str) -> None:
    """Discard a change; one's own is withdrawn. Raises NotDecidedError."""
    action = WITHDRAW if change.actor_id == actor.pk else DISCARD
    with cluster_atomic():
        _move(change, _NOT_OVER, str(State.DISCARDED), actor, why)
        _record(actor, action, change, "done", why)
        tell()


def expire_old() -> None:
    """Expire changes that were not decided in time, or whose process died."""
    now = timezone.now()
    for change in ProposedChange.objects.filter(state=State.WAITING, expires_at__lte=now).defer("form"):
        _expire(change, f"It was not decided until {change.expires_at:%Y-%m-%d %H:%M} UTC.")
    for change in ProposedChange.objects.filter(state=State.DOING, decided_at__lte=now - DOING_MAX).defer("form"):
        _expire(change, f"{change.decided_by} began it, and it is not known what came of it.")


def _expire(change: ProposedChange, why: str) -> None:
    with cluster_atomic():
        values = {"state": State.EXPIRED, "form": [], "outcome": why}
        if ProposedChange.objects.filter(pk=change.pk, state=change.state).update(**values):
            _record(None, EXPIRE, change, "done", why)
            tell()


def do_save_rule(actor: User, plan: Plan, rule_values: dict[str, object], confirmation: Confirmation) -> None:
    """Store the rule; with no values it is removed. Raises NotConfirmedError."""

    def keep() -> None:
        with cluster_atomic():
            if rule_values:
                values = {"definition": rule_values, "actor_name": actor.get_username()}
                ChangeRule.objects.update_or_create(name=plan.object_name, defaults=values)
            else:
                for row in ChangeRule.objects.filter(name=plan.object_name):
                    save_inverse(actor, plan, row.definition)
                    row.delete()
            tell()

    carry_out_plan(actor, plan, confirmation, keep)


def _begin(change: ProposedChange, actor: User) -> None:
    """Begin the change, so that no other process carries it out. Raises NotDecidedError."""
    if change.is_over_at(timezone.now()):
        raise NotDecidedError("It has expired: propose it again.")
    _move(change, {str(State.WAITING)}, str(State.DOING), actor, "")


def _move(change: ProposedChange, states: Collection[str], to: str, actor: User, why: str) -> None:
    """Raises NotDecidedError if somebody was quicker."""
    now = timezone.now()
    values = {"state": to, "decided_at": now, "decided_by": actor.get_username(), "outcome": why[:2_000]}
    if to not in _NOT_OVER:
        values["form"] = []
    chosen = ProposedChange.objects.filter(pk=change.pk, state__in=states)
    if str(State.DOING) in states:
        lately = ProposedChange.objects.filter(pk=change.pk, state=State.DOING, decided_at__gt=now - DOING_MAX)
        if lately.exists():
            raise NotDecidedError("It is being carried out.")
    if not chosen.update(**values):
        raise NotDecidedError("Another user was quicker: it does not wait any more.")
    for name, value in values.items():
        setattr(change, name, value)


def _record(actor: User | None, action: str, change: ProposedChange, result: str, why: str) -> None:
    name = change.object_name[:OBJECT_NAME_LENGTH_MAX]
    detail = f"Change {change.pk}, {change.action}, proposed by {change.actor_name}. {why}".strip()
    record_event(actor, action, change.object_type, name, result=result, detail=detail)
