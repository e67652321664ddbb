"""Writing the queue of proposals, and telling pages of it."""

from collections.abc import Collection, Mapping

from django.db.models import Q, QuerySet

from console.automation.healing.acting import AGAIN_MS
from console.automation.healing.feature import LIVE_GROUP
from console.automation.healing.kinds import HealingMode, TroubleKind, TroubleRule
from console.automation.healing.models import KEPT, HealingState, Proposal
from console.automation.healing.remedy import Remedy
from console.automation.healing.symptoms import HealingFacts, Symptom
from console.automation.healing.watch import WatchResult
from console.cluster.placement.sentences import count_of
from console.kit.audit.record import record_event
from console.kit.common.databases import cluster_atomic
from console.kit.common.kept_statements import kept_rows
from console.kit.live.push import push_partial
from console.kit.plans.apply import Refusals

State = Proposal.State
#: Nobody decided for so long: what it says is old.
EXPIRES_MS = 24 * 3_600_000
#: What somebody dismissed, or let expire, is not proposed again within.
QUIET_MS = 24 * 3_600_000
#: What was done is seen by then.
SHOWS_MS = 300_000


def open_proposals() -> list[Proposal]:
    """Return them, oldest first."""
    return kept_rows(_open)


def _open() -> QuerySet[Proposal]:
    return Proposal.objects.filter(state=State.OPEN).order_by("id")


def is_known(cause: str, now_ms: int) -> bool:
    """Return whether the cause is proposed, was remedied a moment ago, or is dismissed."""
    of_cause = Proposal.objects.filter(cause=cause)
    silent = of_cause.filter(state__in=(State.DISMISSED, State.EXPIRED), ended_at_ms__gt=now_ms - QUIET_MS)
    done = of_cause.filter(state=State.DONE, ended_at_ms__gt=now_ms - SHOWS_MS)
    return of_cause.filter(state=State.OPEN).exists() or silent.exists() or done.exists()


def propose(symptom: Symptom, outlook: str, now_ms: int) -> Proposal:
    made = Proposal.objects.create(
        kind=symptom.kind.value,
        cause=symptom.cause,
        subject=symptom.subject,
        reason=symptom.sentence[:300],
        outlook=outlook[:300],
        made_at_ms=now_ms,
        expires_at_ms=now_ms + EXPIRES_MS,
    )
    record_event(
        None, "propose healing", "cluster", symptom.cause, {}, {"reason": made.reason, "outlook": made.outlook}
    )
    _forget_old(now_ms)
    return made


def _forget_old(now_ms: int) -> None:
    """Forget old proposals, except tried or dismissed ones, which are read again."""
    over = Proposal.objects.exclude(state=State.OPEN)
    oldest = min(over.values_list("pk", flat=True)[KEPT - 1 : KEPT], default=0)
    unwanted = Q(state__in=(State.DISMISSED, State.EXPIRED), ended_at_ms__gt=now_ms - QUIET_MS)
    over.filter(pk__lt=oldest).exclude(unwanted | Q(tried_at_ms__gt=now_ms - AGAIN_MS)).delete()


def end_what_is_over(
    present: Collection[str],
    held: Mapping[TroubleKind, str],
    facts: HealingFacts,
    rules: Mapping[TroubleKind, TroubleRule],
) -> bool:
    """Withdraw what is not so any more, or is off now; expire what nobody decided on. True if there was any."""
    registered = {broker.broker_id for broker in facts.brokers if broker.is_registered}
    ended = False
    for proposal in open_proposals():
        kind = TroubleKind(proposal.kind)
        is_back = kind is TroubleKind.BROKER_GONE and proposal.subject in registered
        if rules[kind].mode is HealingMode.OFF:
            ended |= end(proposal, State.WITHDRAWN, "It is switched off.", "", facts.now_ms)
        elif is_back or (proposal.cause not in present and kind not in held):
            ended |= end(proposal, State.WITHDRAWN, "It is not so any more.", "", facts.now_ms)
        elif facts.now_ms >= proposal.expires_at_ms:
            ended |= end(proposal, State.EXPIRED, "It expired: it was not decided within a day.", "", facts.now_ms)
    return ended


def end(proposal: Proposal, state: str, sentence: str, actor_name: str, now_ms: int) -> bool:
    """End a proposal; False if it was over already."""
    values = {"state": state, "sentence": sentence[:500], "actor_name": actor_name, "ended_at_ms": now_ms}
    return bool(Proposal.objects.filter(pk=proposal.pk, state=State.OPEN).update(**values))


def say(proposal: Proposal, sentence: str) -> None:
    """Store why the proposal still waits."""
    if proposal.sentence != sentence[:500]:
        Proposal.objects.filter(pk=proposal.pk, state=State.OPEN).update(sentence=sentence[:500])
        announce(proposal.made_at_ms)


def note_tried(proposal: Proposal, now_ms: int) -> None:
    Proposal.objects.filter(pk=proposal.pk).update(tried_at_ms=now_ms)


def outcome_sentence(remedy: Remedy, refused: Refusals) -> str:
    """Return what was done of a remedy, in a sentence."""
    noun, verb = ("partition", "on the way") if remedy.move else ("leader", "elected")
    done = f"{count_of(len(remedy.plan.lines) - len(refused), noun)} {verb}"
    why = next(iter(sorted(refused.items())), None)
    return f"{done}; {len(refused)} refused ({why[0]}: {why[1]})." if why else f"{done}."


def note_watch(result: WatchResult, remedyless: Mapping[str, str], now_ms: int) -> None:
    """Store what the page shows of each kind: what it waits for, and why it proposes nothing."""
    waiting = [[item.symptom.kind.value, item.symptom.sentence, item.due_at_ms] for item in result.waiting]
    without = [[symptom.kind.value, f"{symptom.sentence} {remedyless[symptom.cause]}"] for symptom in result.due
               if symptom.cause in remedyless]  # fmt: skip
    held = [[kind.value, why] for kind, why in result.held.items()] + without
    with cluster_atomic():
        before = HealingState.objects.filter(pk=1).first()
        HealingState.objects.update_or_create(pk=1, defaults={"looked_at_ms": now_ms, "waiting": waiting, "held": held})
    if before is None or (before.waiting, before.held) != (waiting, held):
        announce(now_ms)


def announce(version: int) -> None:
    push_partial(LIVE_GROUP, "live/resync.html", {"version": version})
