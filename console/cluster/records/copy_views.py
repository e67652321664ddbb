"""A record copied, or a tombstone in its place: the form, the plan, and a post with the plan's digest."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.cluster.records.actions import count_reading, do_append
from console.cluster.records.copying import CopyTarget, copy_plan
from console.cluster.records.forms import CopyForm
from console.cluster.records.masked_source import hidden_from, source_for
from console.cluster.records.query import RecordQuery
from console.cluster.records.reading import read_page
from console.kit.access.rights import Right, reach_of
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.records.interface import RecordView
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable
from console.state.clusters.access import access_records, access_topic, access_writing, writable_topics
from console.state.clusters.models import Topic

_METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(_METHODS)
def copy(request: UserRequest, name: str, partition: int, offset: int) -> HttpResponse:
    """Copy a record once more into its topic, or into another that the person operates."""
    topic, context = _begun(request, name, partition, offset)
    names = writable_topics(reach_of(request.user))
    form = context["form"] = CopyForm(names, request.POST or None, initial={"to": topic.name})
    if request.method != "POST" or not form.is_valid():
        return render(request, "records/copy.html", context, status=422 if form.errors else 200)
    into, to_partition = access_writing(request.user, form.cleaned_data["to"]), form.cleaned_data["to_partition"]
    if to_partition is not None and to_partition >= into.partition_count:
        form.add_error("to_partition", f"{into.name} has {into.partition_count} partitions.")
        return render(request, "records/copy.html", context, status=422)
    return _planned(request, topic, (partition, offset), (into, to_partition), context)


@require_http_methods(_METHODS)
def tombstone(request: UserRequest, name: str, partition: int, offset: int) -> HttpResponse:
    """Write a tombstone into the partition the record is in."""
    access_writing(request.user, name)
    topic, context = _begun(request, name, partition, offset)
    return _planned(request, topic, (partition, offset), (topic, partition), context, is_tombstone=True)


def _begun(request: UserRequest, name: str, partition: int, offset: int) -> tuple[Topic, dict[str, object]]:
    access_topic(request.user, name, Right.OPERATE)
    topic = access_records(request.user, name)
    return topic, {"topic": topic, "partition": partition, "offset": offset, "address": request.path}


def _planned(
    request: UserRequest,
    topic: Topic,
    place: tuple[int, int],
    to: tuple[Topic, int | None],
    context: dict[str, object],
    *,
    is_tombstone: bool = False,
) -> HttpResponse:
    context["is_tombstone"] = is_tombstone
    into, to_partition = to
    target = CopyTarget(into.name, to_partition, into.is_compacted)
    with refusable() as answer:
        record = _record(request, topic, *place)
        plan = context["plan"] = copy_plan(topic.name, record, target, is_tombstone=is_tombstone)
        where = "" if target.partition is None else target.partition
        context["fields"] = [] if is_tombstone else [("to", target.topic), ("to_partition", where)]
        if is_confirmed(request):
            value, headers = (None, ()) if is_tombstone else (record.value, record.headers)
            confirmation = Confirmation.parse(request.POST)
            done = do_append(request.user, plan, into, to_partition, record.key, value, headers, confirmation)
            messages.success(request, f"Appended to partition {done[0]} of {target.topic} at offset {done[1]}.")
            return redirect("topic-record", target.topic, *done)
    return render(request, "records/copy.html", context | {"error": answer.error}, status=answer.status)


def _record(request: UserRequest, topic: Topic, partition: int, offset: int) -> RecordView:
    """Raises GatewayError, RefusedError where a compacted or deleted record was."""
    query = RecordQuery(
        place="offset", offset=min(offset, 2**63 - 1), partition=partition, limit=1, committed_only=False
    )
    if partition >= topic.partition_count:
        raise Http404(f"{topic.name} has {topic.partition_count} partitions.")
    if hidden := hidden_from(request.user, topic.name):
        raise RefusedError("MASKED", f"Of these records {hidden[0].text} is hidden from you, so you cannot copy them.")
    page = read_page(source_for(request.user, topic), topic.name, topic.partition_count, query)
    if not page.records or page.records[0].offset != offset:
        raise RefusedError("OFFSET_OUT_OF_RANGE", page.note or "The record is not there any more.")
    count_reading(request.user, topic, {partition})
    return page.records[0]
