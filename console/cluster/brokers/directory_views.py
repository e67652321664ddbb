"""Which replicas lie in which directory of a broker, and moving them to another: chosen, planned, begun.

It asks the broker while it is drawn: where replicas lie is in no table, and moves while a copy catches up.
"""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from console.cluster.brokers.actions import do_move_replicas
from console.cluster.brokers.directory_moves import (
    MOVE,
    DirectoryPlan,
    HeldReplica,
    Place,
    directory_plan,
    held_in,
    parse_places,
)
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.brokers.interface import LogDirView
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import ClusterUnreachableError
from console.kit.plans.inverse import find_inverse
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import refusable
from console.state.clusters.access import access_broker, access_topic
from console.state.clusters.models import Partition

#: Replicas offered, the largest first; searching finds the others.
OFFERED_MAX = 200


@require_http_methods(["GET", "HEAD", "POST"])
def directories(request: UserRequest, broker_id: int) -> HttpResponse:
    """Show directories. `place`, as topic:partition and as often as wanted, goes `to` a directory; `undo` puts a move
    back.
    """
    broker = access_broker(request.user, broker_id, Right.OPERATE)
    parameters = request.POST if request.method == "POST" else request.GET
    chosen, to, undo = (
        parse_places(parameters.getlist("place")),
        parameters.get("to", "")[:4_096],
        parameters.get("undo", ""),
    )
    context: dict[str, Any] = {"broker": broker, "chosen": {f"{topic}:{number}" for topic, number in chosen}, "to": to}
    wanted = _kept(broker_id, undo) if undo else dict.fromkeys(chosen, to)
    for topic in sorted({topic for topic, _ in wanted}):
        access_topic(request.user, topic, Right.OPERATE)
    access_broker(request.user, broker_id, Right.OPERATE)
    with refusable() as answer:
        directories = _directories(broker_id)
        context |= {"directories": directories} | _offered(request, directories, reach_of(request.user))
        if wanted and (to or undo):
            plan = context["plan"] = _plan(broker_id, directories, wanted)
            fields = [("place", f"{topic}:{number}") for topic, number in wanted]
            context["fields"] = [("undo", undo)] if undo else [*fields, ("to", to)]
            if request.method == "POST":
                return _apply(request, broker_id, plan)
    return render(request, "brokers/directories.html", context | {"error": answer.error}, status=answer.status)


def _directories(broker_id: int) -> tuple[LogDirView, ...]:
    directories = cluster_gateway().brokers.log_dirs().get(broker_id)
    if directories is None:
        raise ClusterUnreachableError(f"Broker {broker_id} did not say what lies in its directories.")
    return directories


def _offered(request: UserRequest, directories: tuple[LogDirView, ...], reach: Reach) -> dict[str, Any]:
    """Return partitions of topics that the person operates."""
    search = request.GET.get("search", "").strip()[:249]
    known: dict[str, bool] = {}

    def is_offered(replica: HeldReplica) -> bool:
        topic = replica.place[0]
        if topic not in known:
            known[topic] = search.lower() in topic.lower() and Right.OPERATE in reach.rights_on(Resource.TOPIC, topic)
        return known[topic]

    replicas = [item for item in held_in(directories).values() if is_offered(item)]
    replicas.sort(key=lambda replica: (-replica.size_bytes, replica.place))
    return {"search": search, "count": len(replicas), "replicas": replicas[:OFFERED_MAX]}


def _plan(broker_id: int, directories: tuple[LogDirView, ...], wanted: dict[Place, str]) -> DirectoryPlan:
    rows = Partition.objects.filter(topic__name__in={topic for topic, _ in wanted})
    places = rows.values_list("topic__name", "partition", "replicas")
    assigned = {(topic, number): replicas for topic, number, replicas in places if (topic, number) in wanted}
    return directory_plan(broker_id, directories, wanted, assigned, here.BOOTSTRAP_SERVERS)


def _kept(broker_id: int, number: str) -> dict[Place, str]:
    kept = find_inverse("broker", str(broker_id), number)
    if kept is None or kept.action != MOVE:
        raise Http404("This move is not kept any more.")
    return dict(zip(parse_places(kept.values), kept.values.values(), strict=True))


def _apply(request: UserRequest, broker_id: int, plan: DirectoryPlan) -> HttpResponse:
    refused, kept = do_move_replicas(request.user, plan, Confirmation.parse(request.POST))
    address = reverse("broker-directories", args=[broker_id])
    undo = format_html(' <a href="{}?undo={}">Plan the undo…</a>', address, kept.pk) if kept else ""
    done = len(plan.lines) - len(refused)
    words = "replica is" if done == 1 else "replicas are"
    messages.success(request, format_html("{} {} on the way to another directory.{}", done, words, undo))
    for name, why in list(refused.items())[:5]:
        messages.warning(request, f"{name} stays: {why}")
    return redirect("broker-directories", broker_id)
