"""The collector's part: troubles that have lasted become proposals, one for each cause; some are carried out.

What is proposed is withdrawn when its cause is over, and expires when nobody decides. What is carried out without a
person is done in the name of who allowed it, by the plan a person would confirm: rights, read-only mode, rules of
changes and the audit count as ever.
"""

import logging
from collections.abc import Callable, Mapping

from django.contrib.auth.models import User
from django.db import IntegrityError

from console.automation.healing import queue
from console.automation.healing.acting import AGAIN_MS, TriedRemedy, why_not_act
from console.automation.healing.gather import facts_now
from console.automation.healing.kinds import HealingMode, TroubleKind, TroubleRule
from console.automation.healing.models import Proposal, kept_rules, rules_now
from console.automation.healing.remedy import NoRemedy, Remedy, carry_out, remedy_of
from console.automation.healing.symptoms import HealingFacts, Symptom
from console.automation.healing.watch import SymptomWatch, WatchResult
from console.kit.access.reach import Resource
from console.kit.access.read_only import why_read_only
from console.kit.access.rights import Right, has_right, reach_of
from console.kit.common.databases import cluster_atomic
from console.kit.gateway.errors import GatewayError
from console.kit.plans.digest import digest_of
from console.kit.plans.gate import the_gate
from console.kit.plans.plan import Confirmation, NotConfirmedError
from console.kit.plans.posted import Posted, posting
from console.state.consumers.tiers import TierContext, TierLook

#: What had no remedy, or a cluster that did not answer, is not asked again before.
ASKED_AGAIN_MS = 300_000

logger = logging.getLogger(__name__)


class HealingWatch:
    """Not thread-safe: one thread uses it."""

    def __init__(self, clock_ms: Callable[[], int]):
        self._now_ms = clock_ms
        self._watch = SymptomWatch()
        #: Cause → until when nothing is proposed for it, and why.
        self._without: dict[str, tuple[int, str]] = {}

    def look(self) -> bool:
        """Return whether the queue is another."""
        rules = rules_now()
        if all(rule.mode is HealingMode.OFF for rule in rules.values()) and not queue.open_proposals():
            return False
        facts = facts_now(self._now_ms())
        result = self._watch.look(facts, rules)
        is_news = result.present is not None and self._go_on(result, rules, facts)
        if is_news:
            queue.announce(facts.now_ms)
        queue.note_watch(result, self._remedyless(result, facts.now_ms), facts.now_ms)
        return is_news

    def _go_on(self, result: WatchResult, rules: Mapping[TroubleKind, TroubleRule], facts: HealingFacts) -> bool:
        ended = queue.end_what_is_over(result.present or (), result.held, facts, rules)
        proposed = [item for item in result.due if self._propose(item, rules[item.kind], facts.now_ms)]
        return self._act(result, rules, facts) or ended or bool(proposed)

    def _remedyless(self, result: WatchResult, now_ms: int) -> dict[str, str]:
        causes = {symptom.cause for symptom in result.due}
        self._without = {cause: it for cause, it in self._without.items() if cause in causes and it[0] > now_ms}
        return {cause: why for cause, (_, why) in self._without.items()}

    def _propose(self, symptom: Symptom, rule: TroubleRule, now_ms: int) -> bool:
        """Propose a remedy; True if there is one more proposal."""
        if queue.is_known(symptom.cause, now_ms) or self._rests(symptom.cause, now_ms):
            return False
        remedy = self._remedy(symptom.cause, symptom.kind, symptom.subject, rule, now_ms)
        if remedy is None:
            return False
        try:
            with cluster_atomic():
                queue.propose(symptom, remedy.outlook, now_ms)
        except IntegrityError:
            return False  # another collector was quicker
        return True

    def _rests(self, cause: str, now_ms: int) -> bool:
        return self._without.get(cause, (0, ""))[0] > now_ms

    def _remedy(
        self, cause: str, kind: TroubleKind, subject: int | None, rule: TroubleRule, now_ms: int
    ) -> Remedy | None:
        try:
            remedy = remedy_of(kind, subject, rule)
        except GatewayError as error:
            remedy = NoRemedy(f"The cluster did not answer: {error}")
        if isinstance(remedy, Remedy):
            return remedy
        self._without[cause] = now_ms + ASKED_AGAIN_MS, remedy.why
        return None

    def _act(self, result: WatchResult, rules: Mapping[TroubleKind, TroubleRule], facts: HealingFacts) -> bool:
        """Act on at most one due proposal; True if it was tried."""
        due = {symptom.cause for symptom in result.due}
        kept = kept_rules()
        for proposal in queue.open_proposals():
            kind = TroubleKind(proposal.kind)
            why = why_not_act(rules[kind], proposal.cause, facts, _tried(facts.now_ms))
            if not why and proposal.cause not in due:
                why = "Waits: whether it is still so is not certain."
            if not why and self._rests(proposal.cause, facts.now_ms):
                why = self._without[proposal.cause][1]
            person = kept[kind].actor if kind in kept else None
            why = why or why_read_only() or _why_not_in_name_of(person)
            if why or person is None:
                queue.say(proposal, why if rules[kind].mode is HealingMode.ACT else "")
                continue
            self._carry_out(proposal, person, rules[kind], facts.now_ms)
            return True
        return False

    def _carry_out(self, proposal: Proposal, actor: User, rule: TroubleRule, now_ms: int) -> None:
        """Carry out a proposal once: its beginning is stored first, so it is never repeated by itself."""
        remedy = self._remedy(proposal.cause, rule.kind, proposal.subject, rule, now_ms)
        if remedy is not None and (hold := the_gate().outlook(remedy.plan)):
            self._without[proposal.cause] = now_ms + ASKED_AGAIN_MS, f"Waits: {hold.sentence}"
            remedy = None
        if remedy is None:
            queue.say(proposal, self._without[proposal.cause][1])
            return
        queue.note_tried(proposal, now_ms)
        note = f"Without a person, by self-healing: {proposal.reason}"
        try:
            with posting(Posted("", note=note)):
                refused = carry_out(actor, remedy, Confirmation(digest_of(remedy.plan, actor), remedy.plan.typed_name))
        except (NotConfirmedError, GatewayError) as error:
            logger.warning("self-healing: %s: %s", proposal.cause, error)
            queue.say(proposal, f"It could not be done without a person: {error}")
            return
        queue.end(proposal, Proposal.State.DONE, queue.outcome_sentence(remedy, refused), actor.get_username(), now_ms)


def _tried(now_ms: int) -> list[TriedRemedy]:
    rows = Proposal.objects.filter(tried_at_ms__gt=now_ms - AGAIN_MS).values_list("cause", "tried_at_ms")
    return [TriedRemedy(cause, at_ms) for cause, at_ms in rows if at_ms is not None]


def _why_not_in_name_of(actor: User | None) -> str:
    """Return why the rule may not act in its author's name: the account is closed, or has lost its rights."""
    if (
        actor is None
        or not has_right(actor, Right.OPERATE)
        or reach_of(actor).is_limited(Resource.TOPIC, Right.OPERATE)
    ):
        return "The user who allowed this remedy has lost the right to it: a user with the right has to allow it again."
    return ""


def tier(context: TierContext) -> TierLook:
    return TierLook(HealingWatch(context.clock_ms).look)
