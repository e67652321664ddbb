"""Deleting the records of a topic up to an offset or a moment: the form, the plan, and the deletion.

It asks the brokers while it is drawn: where logs begin and end moves with every record.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import get_text_list
from django.views.decorators.http import require_http_methods

from console.cluster.retention.actions import do_purge
from console.cluster.retention.plan import UnreadLoss, losses_below
from console.cluster.retention.purge import (
    PARTITIONS_MAX,
    Doomed,
    PurgeBound,
    PurgedPartition,
    aimed_at,
    cuts_of,
    purge_plan,
)
from console.cluster.retention.purge_forms import PurgeForm, parse_places
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.interface import ClusterGateway
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import refusable
from console.processes.topic_users import uses_of
from console.state.clusters.access import access_changing
from console.state.clusters.models import Topic

#: Partitions listed one by one on a plan.
CUTS_SHOWN = 200


@require_http_methods(["GET", "HEAD", "POST"])
def purge(request: UserRequest, name: str) -> HttpResponse:
    """Purge records. `before`, as partition:offset and as often as wanted, confirms the shown plan."""
    topic = access_changing(request.user, name)
    form = PurgeForm(topic.partition_count, request.GET if "to" in request.GET else None)
    context: dict[str, Any] = {"topic": topic, "form": form, "address": request.path}
    with refusable() as answer:
        if request.method == "POST":
            return _apply(request, topic, context)
        if form.is_bound and not form.is_valid():
            answer.status = 422
        elif form.is_bound:
            _show(request, topic, _aimed(topic, form), context)
    return render(request, "retention/purge.html", context | {"error": answer.error}, status=answer.status)


def _apply(request: UserRequest, topic: Topic, context: dict[str, Any]) -> HttpResponse:
    try:
        _show(request, topic, parse_places(request.POST.getlist("before")), context)
    except ValueError as error:
        raise GatewayError(str(error)) from error
    refused = do_purge(request.user, context["plan"], context["cuts"], Confirmation.parse(request.POST))
    if refused:
        refusals = get_text_list([f"partition {item}: {why}" for item, why in list(refused.items())[:3]], "and")
        messages.warning(request, f"Of {topic.name} {len(refused)} partitions refused: {refusals}")
    else:
        messages.success(request, f"Records of {topic.name} were deleted.")
    return redirect("topic-retention", topic.name)


def _show(request: UserRequest, topic: Topic, before: Mapping[int, int], context: dict[str, Any]) -> None:
    """Raises GatewayError."""
    gateway = cluster_gateway()
    doomed = _doomed(request, gateway, topic, before)
    try:
        cuts = cuts_of(doomed, before)
    except ValueError as error:
        raise GatewayError(str(error)) from error
    losses, hidden = _losses(request, gateway, doomed, cuts)
    plan = purge_plan(doomed, cuts, losses, here.BOOTSTRAP_SERVERS, hidden)
    fields = [("before", f"{cut.partition}:{cut.before}") for cut in cuts]
    context |= {"plan": plan, "cuts": cuts, "shown": cuts[:CUTS_SHOWN], "fields": fields}


def _aimed(topic: Topic, form: PurgeForm) -> dict[int, int]:
    gateway, fields = cluster_gateway(), form.cleaned_data
    upto, chosen = PurgeBound(fields["to"]), fields["partitions"]
    spans = gateway.record_spans(topic.name, committed_only=False)
    silent = [index for index in chosen or range(topic.partition_count) if index not in spans]
    spans = {item: span for item, span in spans.items() if not chosen or item in chosen}
    if len(spans) > PARTITIONS_MAX:
        raise GatewayError(f"One plan has room for {PARTITIONS_MAX} partitions: choose some.")
    at = gateway.offsets_at(topic.name, fields["at"], spans) if upto is PurgeBound.TIME else None
    aimed = aimed_at(upto, spans, fields["offset"] or 0, at)
    return aimed | dict.fromkeys(silent, 0)


def _doomed(request: UserRequest, gateway: ClusterGateway, topic: Topic, before: Mapping[int, int]) -> Doomed:
    """Return what is deleted; partitions of `before` that do not answer are silent."""
    spans = gateway.record_spans(topic.name, committed_only=False)
    return Doomed(
        topic=topic.name,
        topic_id=topic.topic_id,
        cleanup_policy=topic.cleanup_policy,
        is_internal=topic.is_internal,
        spans=spans,
        silent=tuple(sorted(number for number in before if number not in spans)),
        uses=uses_of([topic.name], reach_of(request.user)).get(topic.name, ()),
    )


def _losses(
    request: UserRequest, gateway: ClusterGateway, doomed: Doomed, cuts: tuple[PurgedPartition, ...]
) -> tuple[list[UnreadLoss], int]:
    """Return losses of the groups in reach, and how many others lose something."""
    starts = {cut.partition: cut.before for cut in cuts}
    firsts = {cut.partition: cut.span.first for cut in cuts}
    losses = losses_below(starts, firsts, gateway.committed_offsets(doomed.topic))
    reach = reach_of(request.user)
    seen = [item for item in losses if Right.VIEW in reach.rights_on(Resource.GROUP, item.group)]
    return seen, len(losses) - len(seen)
