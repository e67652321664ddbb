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
from console.cluster.retention.purge import PurgeBound
from console.cluster.retention.purge_facts import PurgeWish, aimed_offsets, purge_of
from console.cluster.retention.purge_forms import PurgeForm, parse_places
from console.kit.access.rights import reach_of
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import GatewayError
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import refusable
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
            fields = form.cleaned_data
            wanted = PurgeWish(PurgeBound(fields["to"]), fields["offset"] or 0, fields["at"], fields["partitions"])
            _show(request, topic, aimed_offsets(topic, wanted), context)
    return render(request, "retention/purge.html", context | {"error": answer.error}, status=answer.status)


def _apply(request: UserRequest, topic: Topic, context: dict[str, Any]) -> HttpResponse:
    try:
        _show(request, topic, parse_places(request.POST.getlist("before")), context)
    except ValueError as error:
        raise GatewayError(str(error)) from error
    refused = do_purge(request.user, context["plan"], Confirmation.parse(request.POST))
    if refused:
        refusals = get_text_list([f"partition {item}: {why}" for item, why in list(refused.items())[:3]], "and")
        messages.warning(request, f"Of {topic.name} {len(refused)} partitions refused: {refusals}")
    else:
        messages.success(request, f"Records of {topic.name} were deleted.")
    return redirect("topic-retention", topic.name)


def _show(request: UserRequest, topic: Topic, before: Mapping[int, int], context: dict[str, Any]) -> None:
    """Raises GatewayError."""
    cuts, plan = purge_of(topic, before, reach_of(request.user))
    fields = [("before", f"{cut.partition}:{cut.before}") for cut in cuts]
    context |= {"plan": plan, "cuts": cuts, "shown": cuts[:CUTS_SHOWN], "fields": fields}
