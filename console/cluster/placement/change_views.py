"""Moving partitions and calling moves off: chosen by hand or proposed, the plan first, then the change.

Like retention these pages ask the cluster while they are drawn: a plan is made from what is true now.
"""

import json
from collections import Counter
from collections.abc import Mapping

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from console.cluster.brokers.state_names import with_state_names
from console.cluster.placement.actions import do_call_off, do_move
from console.cluster.placement.cancel import plan_cancel
from console.cluster.placement.forms import CHANGES_WISE, GoalsForm, MoveForm, ThrottleForm
from console.cluster.placement.goals import rows
from console.cluster.placement.models import OngoingMove, Reassignment
from console.cluster.placement.move import (
    BALANCE,
    DEMOTE,
    DRAIN,
    FACTOR,
    MOVE,
    SPREAD,
    UNDO,
    MovePlan,
    Targets,
    flat,
    parse_targets,
)
from console.cluster.placement.moving import (
    balance_proposal,
    demote_proposal,
    drain_proposal,
    factor_proposal,
    planned,
    spread_proposal,
)
from console.cluster.placement.optimise import GOALS
from console.cluster.placement.propose import PlacementProposal
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.moves.interface import MoveView
from console.kit.plans.apply import Refusals
from console.kit.plans.plan import Confirmation, NotConfirmedError, Plan
from console.kit.plans.views import is_confirmed, refusable
from console.state.clusters.access import access_topic, topics_within
from console.state.clusters.models import Broker, Partition, Topic

#: Partitions listed one by one on a plan, and offered one by one in a form.
MOVES_SHOWN = 200
PARTITIONS_OFFERED = 100
TOPICS_FOUND = 25
#: What may be asked for in the address, and the audit's word for it.
ACTIONS = {
    "": MOVE,
    "undo": UNDO,
    "drain": DRAIN,
    "demote": DEMOTE,
    "spread": SPREAD,
    "balance": BALANCE,
    "factor": FACTOR,
}


@require_http_methods(["GET", "HEAD", "POST"])
def move(request: UserRequest) -> HttpResponse:
    """Choose, see the plan, confirm: what is confirmed are the replicas shown, not the wish again."""
    require(request.user, Right.OPERATE)
    kind = _kind_asked(request)
    context: dict[str, object] = {"kind": kind}
    with refusable() as answer:
        if is_confirmed(request):
            return _apply(request, kind, context)
        answer.status = _ask(request, kind, context)
    return render(request, "placement/move.html", context | {"error": answer.error}, status=answer.status)


@require_http_methods(["GET", "HEAD", "POST"])
def call_off(request: UserRequest) -> HttpResponse:
    """Call off moves. `place`, as topic:partition and as often as wanted, chooses; without one everything under way is
    meant.
    """
    require(request.user, Right.OPERATE)
    chosen = _places(request.POST.getlist("place") or request.GET.getlist("place"))
    context: dict[str, object] = {"fields": [("place", f"{topic}:{partition}") for topic, partition in chosen]}
    with refusable() as answer:
        under_way = _within_reach(request.user, cluster_gateway().moves.under_way())
        copied = {
            (ongoing_move.topic, ongoing_move.partition): ongoing_move.copied_bytes
            for ongoing_move in OngoingMove.objects.all()
        }
        cancel = plan_cancel(under_way, chosen, copied)
        plan = cancel.as_plan(here.BOOTSTRAP_SERVERS)
        context |= {"plan": plan, "cancel": cancel, "shown": cancel.moves[:MOVES_SHOWN]}
        if request.method == "POST":
            refused = do_call_off(request.user, plan, cancel, Confirmation.parse(request.POST))
            _add_messages(request, refused, "was not called off", len(plan.lines), "called off")
            return redirect("placement")
    return render(request, "placement/call-off.html", context | {"error": answer.error}, status=answer.status)


def _ask(request: UserRequest, kind: str, context: dict[str, object]) -> int:
    """Fill in what the address or the form asks for; the status of the answer."""
    if kind == "undo":
        kept = get_object_or_404(Reassignment, pk=_number(request.GET.get("undo", ""), digits=18))
        context["undo"] = kept
        return _show(request, kind, context, flat(kept.former))
    if kind:
        return _propose(request, kind, context)
    if "topic" not in request.GET:
        context |= {
            "topics": _topics_found(request, context),
            "goals_form": GoalsForm(initial={"goal": list(GOALS), "changes": CHANGES_WISE}),
            "brokers": with_state_names(Broker.objects.all(), reach_of(request.user)),
        }
        return 200
    topic = access_topic(request.user, request.GET["topic"], Right.OPERATE)
    form = MoveForm(_offered(request, topic), request.POST or None)
    context |= {"topic": topic, "form": form, "hidden_count": topic.partition_count - len(form.partitions)}
    broker_count = Broker.objects.filter(is_registered=True).count()
    context["factors"] = [index for index in range(1, min(broker_count, 5) + 1) if index != topic.replication_factor]
    if request.method != "POST":
        return 200
    if not form.is_valid():
        return 422
    _put(kind, context, planned(form.targets, form.rate))
    return 200


def _propose(request: UserRequest, kind: str, context: dict[str, object]) -> int:
    proposal = _proposal(request, kind, context)
    if proposal is None:
        return 422
    context |= {"proposal": proposal, "stuck": _stuck_by_topic(request.user, proposal)}
    return _show(request, kind, context, proposal.targets)


def _stuck_by_topic(user: User, proposal: PlacementProposal) -> list[tuple[str, str, int]]:
    """Return (topic, why, partitions) of stuck ones, the topics in reach only."""
    counted = Counter((topic, why) for (topic, _), why in proposal.stuck.items())
    reach = reach_of(user)
    return [
        (topic, why, count)
        for (topic, why), count in sorted(counted.items())
        if Right.VIEW in reach.rights_on(Resource.TOPIC, topic)
    ][:MOVES_SHOWN]


def _proposal(request: UserRequest, kind: str, context: dict[str, object]) -> PlacementProposal | None:
    """Return the proposal; None where its form is invalid.

    Raises Http404 for a broker that was never seen, and for a topic that is not there.
    """
    match kind:
        case "drain":
            broker = get_object_or_404(Broker, broker_id=_number(request.GET.get("drain", "")))
            context["draining"] = broker.broker_id
            return drain_proposal(broker.broker_id)
        case "demote":
            broker = get_object_or_404(Broker, broker_id=_number(request.GET.get("demote", "")))
            context["demoting"] = broker.broker_id
            return demote_proposal(broker.broker_id)
        case "factor":
            topic = access_topic(request.user, request.GET.get("topic", ""), Right.OPERATE)
            context["topic"] = topic
            return factor_proposal(topic.name, _number(request.GET.get("factor", "")) or topic.replication_factor)
        case "balance":
            form = context["goals_form"] = GoalsForm(_goals_asked(request))
            if not form.is_valid():
                return None
            proposal, proposed = balance_proposal(form.goals, form.cleaned_data["changes"] or CHANGES_WISE)
            context["spreads"] = rows(proposed, form.goals)
            return proposal
        case _:
            return spread_proposal()


def _goals_asked(request: UserRequest) -> QueryDict:
    """Return goals, as ticked boxes, or in one word as a command writes them: `replicas,disk`, `all`."""
    parameters = request.GET.copy()
    words = parameters.get("balance", "")
    if "goal" not in parameters and words != "goals":
        parameters.setlist("goal", list(GOALS) if words == "all" else words.split(","))
    return parameters


def _show(request: UserRequest, kind: str, context: dict[str, object], targets: Targets) -> int:
    """Return the status of a page with the plan of computed targets, beside which a throttle may be typed."""
    _check_rights(request.user, {topic for topic, _ in targets})
    form = context["throttle_form"] = ThrottleForm(request.GET if "throttle" in request.GET else None)
    if form.is_bound and not form.is_valid():
        return 422
    _put(kind, context, planned(targets, form.rate if form.is_bound else None))
    return 200


def _apply(request: UserRequest, kind: str, context: dict[str, object]) -> HttpResponse:
    try:
        targets = parse_targets(request.POST.get("moves", ""))
    except ValueError as error:
        raise NotConfirmedError(str(error)) from error
    rate = _number(request.POST.get("rate", ""), digits=18)
    _check_rights(request.user, {topic for topic, _ in targets})
    move_plan = planned(targets, rate)
    plan = _put(kind, context, move_plan)
    refused, kept = do_move(request.user, plan, move_plan, Confirmation.parse(request.POST))
    _add_messages(
        request, refused, "does not move", len(move_plan.moves), "on the way" if kept else "where they shall be"
    )
    return redirect("placement")


def _put(kind: str, context: dict[str, object], move_plan: MovePlan) -> Plan:
    plan = move_plan.as_plan(here.BOOTSTRAP_SERVERS, ACTIONS[kind])
    fields = [("moves", json.dumps(move_plan.wanted)), ("rate", move_plan.rate or ""), ("kind", kind)]
    context |= {
        "plan": plan,
        "move_plan": move_plan,
        "fields": fields,
        "shown": move_plan.moves[:MOVES_SHOWN],
        "hidden_move_count": max(0, len(move_plan.moves) - MOVES_SHOWN),
        "verb": f"Move {len(move_plan.moves)} partition{'' if len(move_plan.moves) == 1 else 's'}",
    }
    return plan


def _offered(request: UserRequest, topic: Topic) -> list[Partition]:
    partitions = Partition.objects.filter(topic=topic).select_related("topic")
    chosen = [number for number in map(_number, request.GET.getlist("partition")) if number is not None]
    return list((partitions.filter(partition__in=chosen) if chosen else partitions)[:PARTITIONS_OFFERED])


def _topics_found(request: UserRequest, context: dict[str, object]) -> list[Topic]:
    context["search"] = search = request.GET.get("search", "").strip()[:249]
    topics = topics_within(reach_of(request.user), Right.OPERATE).filter(name__icontains=search)
    return list(topics[:TOPICS_FOUND]) if search else []


def _check_rights(user: User, topics: set[str]) -> None:
    for topic in sorted(topics):
        access_topic(user, topic, Right.OPERATE)


def _within_reach(user: User, under_way: Mapping[TopicPartition, MoveView]) -> dict[TopicPartition, MoveView]:
    reach = reach_of(user)
    return {
        place: move for place, move in under_way.items() if Right.OPERATE in reach.rights_on(Resource.TOPIC, place[0])
    }


def _kind_asked(request: UserRequest) -> str:
    sent = request.POST.get("kind")
    return sent if sent in ACTIONS else next((kind for kind in ACTIONS if kind and kind in request.GET), "")


def _places(texts: list[str]) -> list[TopicPartition]:
    """Parse places (topic:partition); a topic's name has no colon."""
    parts = (text.rpartition(":") for text in texts)
    return [(topic, int(number)) for topic, _, number in parts if _number(number) is not None]


def _number(text: str, digits: int = 9) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def _add_messages(request: UserRequest, refused: Refusals, failed: str, count: int, what: str) -> None:
    done = count - len(refused)
    if done:
        messages.success(request, f"{done} partition{' is' if done == 1 else 's are'} {what}.")
    for name, why in sorted(refused.items())[:5]:
        messages.warning(request, f"{name} {failed}: {why}")
