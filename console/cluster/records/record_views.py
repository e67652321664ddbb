"""The page of one record, which is also what the drawer beside the messages shows, and two records compared."""

import re

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.records.actions import count_reading
from console.cluster.records.comparing import RecordComparison, compare
from console.cluster.records.decoders import RecordDecoder
from console.cluster.records.masked_source import hidden_from, source_for
from console.cluster.records.presenters import ShownRecord
from console.cluster.records.query import SHOWN_AS, RecordQuery
from console.cluster.records.reading import RecordPage, read_page
from console.cluster.records.text import TEXT_LENGTH_MAX, WHOLE_LENGTH_MAX
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.records.interface import RecordView
from console.state.clusters.access import access_records
from console.state.clusters.models import Topic

#: `3:120`, or `other-topic/3:120`.
_PLACE = re.compile(r"(?:([A-Za-z0-9._-]{1,249})/)?([0-9]{1,6}):([0-9]{1,19})")


@require_safe
def record_page(request: UserRequest, name: str, partition: int, offset: int) -> HttpResponse:
    """Show one record by its position; `part=key|value` downloads its bytes."""
    topic = access_records(request.user, name)
    try:
        record = _record_at(request, topic, partition, offset)
    except GatewayError as error:
        return _not_read(request, error)
    if request.GET.get("part") in ("key", "value"):
        return _bytes_of(topic, record, request.GET["part"])
    shown_as = RecordQuery.parse(request.GET).shown_as
    is_whole = request.GET.get("whole") == "on"
    context = {
        "topic": topic,
        "hidden_parts": hidden_from(request.user, topic.name),
        "record": record,
        "shown": ShownRecord(
            record, shown_as, WHOLE_LENGTH_MAX if is_whole else TEXT_LENGTH_MAX, RecordDecoder(topic.name)
        ),
        "is_whole": is_whole,
        "shown_as": shown_as,
        "views": SHOWN_AS,
        "previous": offset - 1 if offset else None,
        "next": offset + 1,
    }
    is_part = request.htmx.target == "record-drawer"
    return render(request, "records/partials/drawer.html" if is_part else "records/record.html", context)


@require_safe
def compare_records(request: UserRequest, name: str) -> HttpResponse:
    """Compare records. `left` and `right` are places, of this topic or, as `topic/partition:offset`, of another
    readable one.
    """
    topic = access_records(request.user, name)
    places = {side: request.GET.get(side, "").strip() for side in ("left", "right")}
    context = {"topic": topic, "places": places, "error": "", "sides": []}
    try:
        if all(places.values()):
            records = [_record_named(request, topic, place) for place in places.values()]
            context["sides"] = records
            context["parts"] = _compared(*records)
    except GatewayError as error:
        return _not_read(request, error)
    except ValueError as error:
        context["error"] = str(error)
    return render(request, "records/compare.html", context, status=400 if context["error"] else 200)


def _record_named(request: UserRequest, topic: Topic, text: str) -> tuple[Topic, RecordView]:
    """Raises ValueError, GatewayError, Http404."""
    place = _PLACE.fullmatch(text)
    if place is None:
        raise ValueError(f"{text[:60]!r} is no place: write partition:offset, as 0:120, or topic/0:120.")
    other = topic if place[1] in (None, topic.name) else access_records(request.user, place[1])
    return other, _record_at(request, other, int(place[2]), int(place[3]))


def _compared(left: tuple[Topic, RecordView], right: tuple[Topic, RecordView]) -> list[tuple[str, RecordComparison]]:
    texts = [_texts(topic, record) for topic, record in (left, right)]
    return [(part, compare(texts[0][part], texts[1][part])) for part in texts[0]]


def _texts(topic: Topic, record: RecordView) -> dict[str, str]:
    shown = ShownRecord(record, "auto", TEXT_LENGTH_MAX, RecordDecoder(topic.name))
    headers = "\n".join(f"{name}: {text.text}" for name, text in shown.headers)
    return {"Value": shown.value.text, "Key": shown.key.text, "Headers": headers}


def _record_at(request: UserRequest, topic: Topic, partition: int, offset: int) -> RecordView:
    """Raises GatewayError, Http404."""
    query = RecordQuery(
        place="offset", offset=min(offset, 2**63 - 1), partition=partition, limit=1, committed_only=False
    )
    page = read_page(source_for(request.user, topic), topic.name, topic.partition_count, query)
    if not page.records or page.records[0].offset != offset:
        raise Http404(_absence(topic, partition, offset, page))
    count_reading(request.user, topic, {partition})
    return page.records[0]


def _not_read(request: UserRequest, error: GatewayError) -> HttpResponse:
    return render(request, "web/refusal.html", {"title": "Not read", "sentence": str(error)}, status=503)


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
    if page.note:
        return page.note
    if page.records:
        return (
            f"{place}: it was deleted or compacted, or belongs to a transaction. The next is {page.records[0].offset}."
        )
    return f"{place}; nothing has been written there yet, or it was deleted."
