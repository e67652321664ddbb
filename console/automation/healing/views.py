"""The queue of what is proposed, one proposal with its plan, and what is said of each kind of trouble."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from console.automation.healing.access import access_healing, access_proposal
from console.automation.healing.actions import do_confirm, do_dismiss, do_set_rule
from console.automation.healing.forms import HealingRuleForm
from console.automation.healing.kinds import DEFAULTS, WORDS, HealingMode, TroubleKind, TroubleRule, TroubleTexts
from console.automation.healing.models import HealingRule, HealingState, Proposal, kept_rules, rules_now
from console.automation.healing.remedy import NoRemedy, Remedy, remedy_of
from console.automation.healing.rule_plan import rule_plan
from console.kit.access.rights import Right
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.current_cluster import is_main
from console.kit.common.user_request import UserRequest
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable
from console.processes.models import ManagedProcess
from console.processes.restarts import Policy

#: Proposals that are over, on the page; partitions of a plan that are named one by one.
OVER_SHOWN = 30
MOVES_SHOWN = 200
STUCK_SHOWN = 20
TITLES = ("cause", "state", "reason", "outlook", "sentence", "made_at_ms", "ended_at_ms", "by")
_METHODS = ["GET", "HEAD", "POST"]


@dataclass(frozen=True, slots=True)
class KindRow:
    rule: TroubleRule
    words: TroubleTexts
    kept: HealingRule | None
    waiting: list[tuple[str, int]]
    held: list[str]

    @property
    def tone(self) -> str:
        return {HealingMode.OFF: "plain", HealingMode.PROPOSE: "ok", HealingMode.ACT: "busy"}[self.rule.mode]

    @property
    def changed_at(self) -> datetime | None:
        return self.kept.changed_at if self.kept else None


@require_safe
def healing(request: UserRequest) -> HttpResponseBase:
    access_healing(request.user)
    if wants_csv(request):
        return csv_response(request, "healing", TITLES, map(_cells, Proposal.objects.all()))
    state = HealingState.objects.filter(pk=1).first() or HealingState()
    over = Proposal.objects.exclude(state=Proposal.State.OPEN)
    context = {
        "kinds": _kind_rows(state),
        "state": state,
        "open": Proposal.objects.filter(state=Proposal.State.OPEN),
        "over": over[:OVER_SHOWN],
        "restarts": _restarts(),
    }
    return render(request, "healing/page.html", context)


@require_http_methods(_METHODS)
def proposal(request: UserRequest, number: int) -> HttpResponse:
    """Show the proposal: its current plan while it is open, its outcome afterwards."""
    proposal = access_proposal(request.user, number, Right.OPERATE if request.method == "POST" else Right.VIEW)
    context: dict[str, object] = {"proposal": proposal, "words": WORDS[TroubleKind(proposal.kind)]}
    with refusable() as answer:
        if proposal.is_open:
            remedy = remedy_of(TroubleKind(proposal.kind), proposal.subject, rules_now()[TroubleKind(proposal.kind)])
            context |= _plan_context(remedy)
            if request.method == "POST" and isinstance(remedy, Remedy):
                refused = do_confirm(request.user, proposal, remedy, Confirmation.parse(request.POST))
                _add_messages(request, refused)
                return redirect("healing-proposal", number)
    return render(request, "healing/proposal.html", context | {"error": answer.error}, status=answer.status)


@require_POST
def dismiss(request: UserRequest, number: int) -> HttpResponse:
    proposal = access_proposal(request.user, number, Right.OPERATE)
    do_dismiss(request.user, proposal)
    return redirect("healing")


@require_http_methods(_METHODS)
def rule(request: UserRequest, kind: str) -> HttpResponse:
    access_healing(request.user, Right.ADMINISTER)
    if kind not in set(TroubleKind):
        raise Http404("There is no such kind of trouble.")
    kept = kept_rules().get(TroubleKind(kind))
    before = kept.rule if kept else DEFAULTS[TroubleKind(kind)]
    form = HealingRuleForm(before, request.POST or None)
    context: dict[str, object] = {"form": form, "words": WORDS[before.kind], "address": request.path}
    if request.method != "POST" or not form.is_valid():
        return render(request, "healing/rule.html", context, status=422 if form.errors else 200)
    plan = rule_plan(before, form.rule, kept.actor_name if kept else "", request.user.get_username())
    context |= {"plan": plan, "fields": [(name, form.data.get(name, "")) for name in form.fields]}
    with refusable() as answer:
        if is_confirmed(request):
            do_set_rule(request.user, plan, form.rule, Confirmation.parse(request.POST))
            messages.success(request, f"{WORDS[before.kind].trouble}: {form.rule.mode}.")
            return redirect("healing")
    return render(request, "healing/rule.html", context | {"error": answer.error}, status=answer.status)


def _kind_rows(state: HealingState) -> list[KindRow]:
    kept, rules = kept_rules(), rules_now()
    return [
        KindRow(
            rules[kind],
            WORDS[kind],
            kept.get(kind),
            [(sentence, due_at_ms) for name, sentence, due_at_ms in state.waiting if name == kind],
            [why for name, why in state.held if name == kind],
        )
        for kind in TroubleKind
    ]


def _restarts() -> dict[str, object] | None:
    """Return how many processes there are, and how many of them are not restarted; None where there are none."""
    if not is_main() or not ManagedProcess.objects.exists():
        return None
    left = ManagedProcess.objects.filter(restart=Policy.NEVER).count()
    return {"all": ManagedProcess.objects.count(), "left": left}


def _plan_context(remedy: Remedy | NoRemedy) -> dict[str, object]:
    stuck = [(f"{topic}-{number}", why) for (topic, number), why in remedy.stuck.items()]
    context: dict[str, object] = {"remedy": remedy, "stuck": stuck[:STUCK_SHOWN], "stuck_count": len(stuck)}
    if isinstance(remedy, NoRemedy):
        return context
    moves = remedy.move.moves if remedy.move else remedy.election.moves if remedy.election else ()
    hidden = max(0, len(moves) - MOVES_SHOWN)
    return context | {"plan": remedy.plan, "shown": moves[:MOVES_SHOWN], "hidden_count": hidden}


def _add_messages(request: UserRequest, refused: object) -> None:
    if refused:
        messages.warning(request, "Not all of it was done: see below.")
    else:
        messages.success(request, "It is done, or under way.")


def _cells(row: Proposal) -> tuple[object, ...]:
    return (
        row.cause,
        row.state,
        row.reason,
        row.outlook,
        row.sentence,
        row.made_at_ms,
        row.ended_at_ms,
        row.actor_name,
    )
