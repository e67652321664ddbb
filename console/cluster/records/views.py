"""The messages tab of a topic, its files and its histogram, and producing a record.

Like the retention tab it asks brokers while it is drawn, within a budget of time and bytes. Searching and following
go on over a websocket (`records/socket.py`).
"""

from collections.abc import Collection, Iterable

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from console.cluster.records.actions import count_reading, do_produce
from console.cluster.records.expression import BadExpression
from console.cluster.records.filter_chips import chips_of
from console.cluster.records.forms import ProduceForm
from console.cluster.records.histogram import lookups, read_histogram
from console.cluster.records.json_lines import json_lines_response
from console.cluster.records.masked_source import hidden_from, source_for
from console.cluster.records.masking import MaskPath
from console.cluster.records.metered_source import charge_lookups
from console.cluster.records.presenters import (
    drawn,
    offered_columns,
    record_rows,
    shown_records,
    titles,
    with_default_columns,
)
from console.cluster.records.query import DEFAULT_COLUMN, LIMITS, PLACES, SEARCHED, SHOWN_AS, RecordQuery
from console.cluster.records.reader_slots import SLOTS
from console.cluster.records.reading import RecordPage, find_range, read_page
from console.cluster.records.record_export import (
    DEFAULT_FORMAT,
    FORMATS,
    ExportSlotError,
    export_query,
    export_response,
)
from console.cluster.records.search import HELD_BYTES_MAX, SearchLimits, SearchReader
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import CsvTable, csv_response, wants_csv
from console.kit.common.current_cluster import here
from console.kit.common.user_request import InnerRequest, UserRequest
from console.kit.gateway.commands import shell_command
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.records.interface import RecordView
from console.kit.plans.plan import NotConfirmedError
from console.state.clusters.access import access_records, access_writing, refusal_to_write
from console.state.clusters.models import Topic

#: Partitions offered one by one.
PARTITIONS_OFFERED_MAX = 1_000
#: Records that match, in one answer to a program; the answer says so, and the export has no such limit.
PROGRAM_FOUND_MAX = 10_000


@require_safe
def record_list(request: UserRequest, name: str) -> HttpResponseBase:
    topic = access_records(request.user, name)
    query = RecordQuery.parse(request.GET)
    page, error = None, ""
    if query.search and _wants_file(request):
        return _file_of_search(request, topic, query)
    if not query.search:
        try:
            page = read_page(source_for(request.user, topic), topic.name, topic.partition_count, query)
        except GatewayError as refusal:
            error = str(refusal)
        else:
            count_reading(request.user, topic, {record.partition for record in page.records})
    if page is not None and _wants_file(request):
        return _file(request, f"records-{topic.name}", topic, query, page.records)
    return _list_page(request, topic, query, page, error, ProduceForm(topic))


def _file_of_search(request: UserRequest, topic: Topic, query: RecordQuery) -> HttpResponseBase:
    """Return all matches as a file; for programs within the limits of a search, with what was searched."""
    try:
        if not isinstance(request, InnerRequest):
            return _export(request, topic, query)
        records, note = _found_within_limits(request, topic, query)
    except ExportSlotError as refusal:
        return _list_page(request, topic, query, None, str(refusal), ProduceForm(topic), status=429)
    except GatewayError as refusal:
        return _list_page(request, topic, query, None, str(refusal), ProduceForm(topic), status=503)
    except BadExpression as refusal:
        return _list_page(request, topic, query, None, str(refusal), ProduceForm(topic), status=400)
    note = " ".join((*query.problems, note))
    return CsvTable(titles(query), record_rows(topic.name, records, query), note)


def _found_within_limits(request: UserRequest, topic: Topic, query: RecordQuery) -> tuple[list[RecordView], str]:
    if no_slot := SLOTS.take(request.user.pk):
        raise ExportSlotError(no_slot)
    try:
        count_reading(request.user, topic, _partitions_of(topic, query))
        source = source_for(request.user, topic)
        reader = SearchReader(source, topic.name, topic.partition_count, query, SearchLimits(PROGRAM_FOUND_MAX))
        records: list[RecordView] = []
        try:
            held_bytes = 0
            while not (turn := reader.turn()).ended:
                records += turn.records
                held_bytes += sum(record.held_bytes for record in turn.records)
                if held_bytes > HELD_BYTES_MAX:
                    return (
                        records,
                        f"Stopped at {len(records):,} found, {HELD_BYTES_MAX >> 20} MB: search a smaller range.",
                    )
        finally:
            reader.close()
        return [*records, *turn.records], f"{turn.summary} {turn.note}".strip()
    finally:
        SLOTS.give_back(request.user.pk)


def _partitions_of(topic: Topic, query: RecordQuery) -> Collection[int]:
    return range(topic.partition_count) if query.partition is None else (query.partition,)


def _export(request: UserRequest, topic: Topic, query: RecordQuery) -> HttpResponseBase:
    response = export_response(request, topic, query, request.GET.get("format", DEFAULT_FORMAT))
    count_reading(request.user, topic, _partitions_of(topic, query))
    return response


@require_safe
def export(request: UserRequest, name: str) -> HttpResponseBase:
    """Export every record of the range and partition, or only those that match a search."""
    topic = access_records(request.user, name)
    query = RecordQuery.parse(request.GET)
    if request.GET.get("format", DEFAULT_FORMAT) not in FORMATS:
        return _refusal(request, f"Choose a format: {' or '.join(FORMATS)}.", 400)
    try:
        return _export(request, topic, query)
    except ExportSlotError as refusal:
        return _refusal(request, str(refusal), 429)
    except GatewayError as refusal:
        return _refusal(request, str(refusal), 503)
    except BadExpression as refusal:
        return _refusal(request, str(refusal), 400)


def _refusal(request: UserRequest, sentence: str, status: int) -> HttpResponse:
    return render(request, "web/refusal.html", {"title": "Not exported", "sentence": sentence}, status=status)


@require_safe
def export_count(request: UserRequest, name: str) -> HttpResponse:
    """Return the most records an export can have, counted by offsets in advance."""
    topic = access_records(request.user, name)
    query = export_query(RecordQuery.parse(request.GET))
    offsets, error = None, ""
    try:
        offsets = find_range(source_for(request.user, topic), topic.name, topic.partition_count, query)
    except GatewayError as refusal:
        error = str(refusal)
    count = sum(offsets.ends[item] - start for item, start in offsets.starts.items()) if offsets else None
    context = {"count": count, "silent": offsets.silent if offsets else (), "query": query, "error": error}
    return render(request, "records/partials/export-count.html", context)


def _wants_file(request: UserRequest) -> bool:
    return wants_csv(request) or request.GET.get("format") == "jsonl"


def _file(
    request: UserRequest, name: str, topic: Topic, query: RecordQuery, records: Iterable[RecordView]
) -> HttpResponseBase:
    if request.GET["format"] == "jsonl":
        return json_lines_response(request, name, topic.name, records)
    if isinstance(request, InnerRequest):
        return CsvTable(titles(query), record_rows(topic.name, records, query), " ".join(query.problems))
    return csv_response(request, name, titles(query), record_rows(topic.name, records, query))


@require_safe
def histogram(request: UserRequest, name: str) -> HttpResponse:
    """Return the histogram, a part of the messages tab that the page fetches by itself."""
    topic = access_records(request.user, name)
    histogram, error = None, ""
    partition = RecordQuery.parse(request.GET).partition
    try:
        charge_lookups(request.user.pk, lookups(topic.partition_count, partition))
        histogram = read_histogram(cluster_gateway(), topic.name, partition, now_ms())
    except GatewayError as refusal:
        error = str(refusal)
    context = {"topic": topic, "histogram": histogram, "error": error, "bars": drawn(histogram) if histogram else []}
    return render(request, "records/partials/histogram.html", context)


@require_POST
def produce(request: UserRequest, name: str) -> HttpResponse:
    topic = access_writing(request.user, name)
    form = ProduceForm(topic, request.POST)
    if form.is_valid():
        values = {field: form.cleaned_data[field] for field in ("partition", "key", "value", "headers")}
        try:
            partition, offset = do_produce(request.user, topic, **values)
        except (GatewayError, NotConfirmedError) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Appended to partition {partition} at offset {offset}.")
            return redirect("topic-record", topic.name, partition, offset)
    return _list_page(request, topic, RecordQuery(), None, "", form, status=422)


def _list_page(
    request: UserRequest,
    topic: Topic,
    query: RecordQuery,
    page: RecordPage | None,
    error: str,
    form: ProduceForm,
    status: int = 200,
) -> HttpResponse:
    shown = shown_records(topic.name, page.records, query) if page else []
    picked = [column.text for column in with_default_columns(shown, query)]
    context = {
        "topic": topic,
        "query": query,
        "page": page,
        "records": shown,
        "hidden_parts": _hidden(request, topic),
        "picked": picked,
        "default_columns": request.GET.getlist(DEFAULT_COLUMN) if query.columns else picked,
        "offered": [column for column in offered_columns(shown) if column not in picked],
        "error": error,
        "form": form,
        "not_written": refusal_to_write(topic),
        "places": PLACES,
        "views": SHOWN_AS,
        "searched": SEARCHED,
        "limits": LIMITS,
        "chips": chips_of(request.GET, query),
        "partitions": range(min(topic.partition_count, PARTITIONS_OFFERED_MAX)),
        "command": _command(topic, query),
    }
    return render(request, "records/list.html", context, status=status)


def _hidden(request: UserRequest, topic: Topic) -> tuple[MaskPath, ...]:
    try:
        return hidden_from(request.user, topic.name)
    except GatewayError:
        return ()  # no record is shown, and the page says why


def _command(topic: Topic, query: RecordQuery) -> str:
    """Return the command that shows the same, or nothing: kafka-console-consumer cannot begin or end at a time."""
    if query.range.start is not None or query.range.end is not None:
        return ""
    is_one, offset = query.partition is not None, {"oldest": "earliest", "offset": str(query.offset)}
    options = {
        "topic": topic.name,
        "partition": query.partition,
        "offset": offset.get(query.place, "latest") if is_one else None,
        "from-beginning": not is_one and query.place == "oldest",
        "isolation-level": "read_committed" if query.committed_only else None,
        "max-messages": query.limit,
    }
    return shell_command("kafka-console-consumer", here.BOOTSTRAP_SERVERS, options)
