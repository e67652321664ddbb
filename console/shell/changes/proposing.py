"""What is held by a rule is kept: the request that makes its plan again, who asked, and until when."""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from console.ecosystem.connectors.masking import is_secret
from console.kit.audit.record import record_event
from console.kit.common.databases import cluster_atomic
from console.kit.plans.apply import OBJECT_NAME_LENGTH_MAX
from console.kit.plans.digest import digest_of
from console.kit.plans.gate import ChangeRefusedNow
from console.kit.plans.plan import Plan
from console.kit.plans.posted import Posted
from console.shell.changes.announce import tell
from console.shell.changes.kept_form import sealed
from console.shell.changes.models import (
    ABOUT_MAX,
    FORM_LENGTH_MAX,
    OVER_KEPT,
    WAITING_MAX,
    WAITING_OF_ONE_MAX,
    ProposedChange,
)

#: As long as somebody may think about it.
LASTS = timedelta(days=7)
PROPOSE = "propose change"
LINES_KEPT = 500
#: What a form has sealed on its way.
_SEALED = "sealed"
_NOT_KEPT = "It has a secret, which is not stored, so it cannot wait for an approval: nothing was changed."
State = ProposedChange.State


@dataclass(frozen=True)
class ProposalReceipt:
    number: int
    sentence: str
    address: str


def propose(actor: User, posted: Posted) -> ProposalReceipt:
    """Raises NotNowError if it cannot be kept."""
    plan, held = posted.plan, posted.held
    assert plan is not None
    assert held is not None
    _refuse_what_cannot_wait(actor, posted)
    now = timezone.now()
    with cluster_atomic():
        row = ProposedChange.objects.create(
            at=now,
            expires_at=now + LASTS,
            actor=actor,
            actor_name=actor.get_username(),
            reason=dict(posted.form).get("reason_to_change", "")[:500],
            sentence=held.sentence[:2_000],
            rules=list(held.rules),
            needs_person=held.needs_person,
            action=plan.action,
            object_type=plan.object_type,
            object_name=plan.object_name[:1_024],
            about=list(names_of(plan)),
            path=posted.path,
            query=list(posted.query),
            form=sealed(tuple(pair for pair in posted.form if pair[0] != "reason_to_change")),
            content=digest_of(plan, None),
            lines=[[line.name, _text(line.old), _text(line.new)] for line in plan.lines[:LINES_KEPT]],
        )
        name = plan.object_name[:OBJECT_NAME_LENGTH_MAX]
        detail = f"Change {row.pk}, {plan.action}: {held.sentence} {row.reason}".strip()
        record_event(actor, PROPOSE, plan.object_type, name, plan.before, plan.after, detail=detail)
        _forget_old()
        tell()
    sentence = f"{held.sentence} It waits as change {row.pk}, until {row.expires_at:%Y-%m-%d %H:%M} UTC."
    return ProposalReceipt(row.pk, sentence, reverse("change", args=[row.pk]))


def names_of(plan: Plan) -> tuple[str, ...]:
    """Return all names that the plan is about."""
    names = {plan.object_name: None} | dict.fromkeys(plan.about)
    for part in plan.parts:
        names |= dict.fromkeys((part.object_name, *part.about))
    return tuple(names)[:ABOUT_MAX]


def _refuse_what_cannot_wait(actor: User, posted: Posted) -> None:
    if any(value and (name == _SEALED or is_secret(name)) for name, value in posted.form):
        raise ChangeRefusedNow(_NOT_KEPT)
    if sum(len(name) + len(value) for name, value in (*posted.form, *posted.query)) > FORM_LENGTH_MAX:
        raise ChangeRefusedNow("It is too large to wait for an approval: make several changes of it.")
    waiting = ProposedChange.objects.filter(state=State.WAITING, expires_at__gt=timezone.now())
    if waiting.filter(actor=actor).count() >= WAITING_OF_ONE_MAX:
        raise ChangeRefusedNow(
            f"{WAITING_OF_ONE_MAX} changes of yours wait already: withdraw one, or have one decided."
        )
    if waiting.count() >= WAITING_MAX:
        raise ChangeRefusedNow(f"{WAITING_MAX} changes wait already: have some decided first.")


def _forget_old() -> None:
    over = ProposedChange.objects.exclude(state__in=(State.WAITING, State.DOING))
    oldest = over.values_list("pk", flat=True)[OVER_KEPT - 1 : OVER_KEPT]
    over.filter(pk__lt=min(oldest, default=0)).delete()


def _text(value: object) -> object:
    return value if value is None or isinstance(value, bool | int | float) else str(value)[:500]
