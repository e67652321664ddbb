"""The messages tab of a topic, the page of one record, and producing one.

Like the retention tab it asks brokers while it is drawn, within a budget of time and bytes. Searching and following
go on over a websocket (`records/socket.py`).
"""

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from console.access.rights import Right
from console.clusters.access import access_records
from console.clusters.models import Topic
from console.common.csv_table import csv_response, wants_csv
from console.gateway.commands import shell_command
from console.gateway.connect import cluster_gateway
from console.gateway.errors import GatewayError
from console.gateway.record_views import RecordView
from console.records.actions import count_reading, do_produce
from console.records.expression import BadExpression
from console.records.forms import ProduceForm
from console.records.presenters import TITLES, ShownRecord, record_rows, shown_records
from console.records.query import LIMITS, PLACES, SEARCHED, SHOWN_AS, RecordQuery
from console.records.reader_slots import SLOTS
from console.records.reading import RecordPage, read_page
from console.records.search_and_tail import search_for_file
from console.records.text import TEXT_LENGTH_MAX, WHOLE_LENGTH_MAX
from console.schemas.codec import PageDecoder

#: Partitions offered one by one.
PARTITIONS_OFFERED_MAX = 1_000


@require_safe
def record_list(request: HttpRequest, name: str) -> HttpResponse:
    topic = access_records(request.user, name)
    query = RecordQuery.parse(request.GET)
    page, error = None, ""
    if query.search and wants_csv(request):
        return _file_of_search(request, topic, query)
    if not query.search:
        try:
            page = read_page(cluster_gateway(), topic.name, topic.partition_count, query)
        except GatewayError as refusal:
            error = str(refusal)
        else:
            count_reading(request.user, topic, {each.partition for each in page.records})
    if page is not None and wants_csv(request):
        return csv_response(request, f"records-{topic.name}", TITLES, record_rows(page.records, query.shown_as))
    return _list_page(request, topic, query, page, error, ProduceForm(topic))


def _file_of_search(request: HttpRequest, topic: Topic, query: RecordQuery) -> HttpResponse:
    """All that is found, not only what the page shows; its name says if the search ended before it was through."""
    if no_slot := SLOTS.take(request.user.pk):
        return _list_page(request, topic, query, None, no_slot, ProduceForm(topic), status=429)
    try:
        found, is_all = search_for_file(cluster_gateway(), topic.name, topic.partition_count, query)
    except GatewayError as refusal:
        return _list_page(request, topic, query, None, str(refusal), ProduceForm(topic), status=503)
    except BadExpression as refusal:
        return _list_page(request, topic, query, None, str(refusal), ProduceForm(topic), status=400)
    finally:
        SLOTS.give_back(request.user.pk)
    partitions = range(topic.partition_count) if query.partition is None else (query.partition,)
    count_reading(request.user, topic, partitions)
    name = f"records-{topic.name}-found" if is_all else f"records-{topic.name}-found-partial"
    return csv_response(request, name, TITLES, record_rows(found, query.shown_as))


@require_safe
def record_page(request: HttpRequest, name: str, partition: int, offset: int) -> HttpResponse:
    """One record by its place; `part=key|value` hands out its bytes as a file."""
    topic = access_records(request.user, name)
    query = RecordQuery(
        place="offset", offset=min(offset, 2**63 - 1), partition=partition, limit=1, committed_only=False
    )
    try:
        page = read_page(cluster_gateway(), topic.name, topic.partition_count, query)
    except GatewayError as error:
        return render(request, "web/refusal.html", {"title": "Not read", "sentence": str(error)}, status=503)
    if not page.records or page.records[0].offset != offset:
        raise Http404(_absence(topic, partition, offset, page))
    (record,) = page.records
    count_reading(request.user, topic, {partition})
    if request.GET.get("part") in ("key", "value"):
        return _bytes_of(topic, record, request.GET["part"])
    shown_as = RecordQuery.parse(request.GET).shown_as
    is_whole = request.GET.get("whole") == "on"
    context = {
        "topic": topic,
        "record": record,
        "shown": ShownRecord(record, shown_as, WHOLE_LENGTH_MAX if is_whole else TEXT_LENGTH_MAX, PageDecoder()),
        "is_whole": is_whole,
        "shown_as": shown_as,
        "views": SHOWN_AS,
        "previous": offset - 1 if offset else None,
        "next": offset + 1,
    }
    return render(request, "records/record.html", context)


@require_POST
def produce(request: HttpRequest, name: str) -> HttpResponse:
    topic = access_records(request.user, name, Right.OPERATE)
    form = ProduceForm(topic, request.POST)
    if form.is_valid():
        values = {field: form.cleaned_data[field] for field in ("partition", "key", "value", "headers")}
        try:
            partition, offset = do_produce(request.user, topic, **values)
        except GatewayError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Appended to partition {partition} at offset {offset}.")
            return redirect("topic-record", topic.name, partition, offset)
    return _list_page(request, topic, RecordQuery(), None, "", form, status=422)


def _list_page(
    request: HttpRequest,
    topic: Topic,
    query: RecordQuery,
    page: RecordPage | None,
    error: str,
    form: ProduceForm,
    status: int = 200,
) -> HttpResponse:
    context = {
        "topic": topic,
        "query": query,
        "page": page,
        "records": shown_records(page.records, query.shown_as) if page else [],
        "error": error,
        "form": form,
        "places": PLACES,
        "views": SHOWN_AS,
        "searched": SEARCHED,
        "limits": LIMITS,
        "partitions": range(min(topic.partition_count, PARTITIONS_OFFERED_MAX)),
        "command": _command(topic, query),
    }
    return render(request, "records/list.html", context, status=status)


def _bytes_of(topic: Topic, record: RecordView, part: str) -> HttpResponse:
    data = record.key if part == "key" else record.value
    response = HttpResponse(data or b"", content_type="application/octet-stream")
    name = f"{topic.name}-{record.partition}-{record.offset}-{part}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _absence(topic: Topic, partition: int, offset: int, page: RecordPage) -> str:
    place = f"{topic.name}-{partition} holds no record at offset {offset}"
    if partition in page.silent:
        return f"Partition {partition} of {topic.name} has no leader that answers; try again in a moment."
    if page.records:
        return (
            f"{place}: it was deleted or compacted, or belongs to a transaction. The next is {page.records[0].offset}."
        )
    return f"{place}; nothing has been written there yet, or it was deleted."


def _command(topic: Topic, query: RecordQuery) -> str:
    is_one, offset = query.partition is not None, {"oldest": "earliest", "offset": str(query.offset)}
    options = {
        "topic": topic.name,
        "partition": query.partition,
        "offset": offset.get(query.place, "latest") if is_one else None,
        "from-beginning": not is_one and query.place == "oldest",
        "isolation-level": "read_committed" if query.committed_only else None,
        "max-messages": query.limit,
    }
    return shell_command("kafka-console-consumer", settings.BOOTSTRAP_SERVERS, options)
