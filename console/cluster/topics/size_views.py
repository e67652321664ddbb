"""How many partitions a topic needs, and what they cost: an answer at once, and the way to the plan that makes them."""

from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from broker.cli.topics.sizing import ClusterCapacity, Size, TopicDemand, size, text_of_bytes
from console.cluster.topics.size_form import SizeForm
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, require_somewhere
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.commands import shell_command
from console.state.clusters.access import access_topic
from console.state.clusters.models import Broker, Topic


@require_safe
def topic_size(request: UserRequest) -> HttpResponse:
    """Estimate a topic's size. With `topic`, begin with that topic's figures."""
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    name = request.GET.get("topic", "")
    topic = access_topic(request.user, name, Right.VIEW) if name else None
    form = SizeForm(request.GET if "throughput" in request.GET else None, initial=_initial(topic))
    context: dict[str, object] = {"form": form, "topic": topic}
    if form.is_bound and form.is_valid():
        context |= _answer(form.demand(topic.partition_count if topic else 0), topic)
        context["command"] = _command(request, topic)
    return render(request, "topics/size.html", context, status=422 if form.errors or "error" in context else 200)


def _initial(topic: Topic | None) -> dict[str, object]:
    """Return initial values from what is known of the topic: its last rate times the mean size of its records on
    disk.
    """
    if topic is None:
        return {"replication_factor": max(1, min(3, _registered().count()))}
    known: dict[str, object] = {"replication_factor": topic.replication_factor}
    if topic.retention_ms is not None:
        known["retention"] = f"{topic.retention_ms}"
    copies = topic.record_count * topic.replication_factor
    if topic.records_per_second and copies:
        known["throughput"] = f"{topic.records_per_second * topic.size_bytes / copies / 1_000_000:.3g} MB/s"
    return known


def _answer(demand: TopicDemand, topic: Topic | None) -> dict[str, object]:
    brokers = list(_registered())
    place = ClusterCapacity(
        brokers=len(brokers), leaders_per_broker=max((broker.leader_count for broker in brokers), default=0)
    )
    try:
        planned = size(demand, place)
    except ValueError as error:
        return {"error": f"This cannot be planned: {error}."}
    return {
        "planned": planned,
        "brokers": len(brokers),
        "costs": _costs(planned, demand),
        "next": _next(planned, demand, topic),
    }


def _costs(planned: Size, demand: TopicDemand) -> list[tuple[str, str, str]]:
    """Name, value, and what is meant."""
    return [
        ("Kept in a partition", text_of_bytes(planned.partition_bytes), "with its active segment"),
        ("Disk of each broker", text_of_bytes(planned.broker_bytes), f"with {demand.head_room:.0%} head-room"),
        ("Leaders on each broker", f"{planned.leaders_per_broker:,}", f"{planned.replicas_per_broker:,} replicas"),
        ("Open files on each broker", f"{planned.files_per_broker:,}", "three for each segment"),
        ("Fail-over of a broker", f"{planned.fail_over_s:.1f} s", "until all it led are served again"),
    ]


def _next(planned: Size, demand: TopicDemand, topic: Topic | None) -> tuple[str, str] | None:
    """Address and words of the plan that makes it so; None if nothing is to be done."""
    if topic is None:
        parameters = {"partition_count": planned.partitions, "replication_factor": demand.replication_factor}
        return f"{reverse('topic-create')}?{urlencode(parameters)}", "Create such a topic…"
    if planned.partitions <= topic.partition_count:
        return None
    address = f"{reverse('topic-add-partitions', args=[topic.name])}?partition_count={planned.partitions}"
    return address, f"Add {planned.partitions - topic.partition_count:,} partitions…"


def _command(request: UserRequest, topic: Topic | None) -> str:
    """Return the command with the values as typed."""
    named = (
        "throughput",
        "consumer_throughput",
        "producer_throughput",
        "growth",
        "consumers",
        "retention",
        "head_room",
    )
    options = {name.replace("_", "-"): request.GET.get(name) or None for name in (*named, "replication_factor")}
    return shell_command("kafka-plan", here.BOOTSTRAP_SERVERS, {"topic": topic.name if topic else None, **options})


def _registered() -> QuerySet[Broker]:
    return Broker.objects.filter(is_registered=True)
