"""The segments of one partition. It asks the partition's leader while it is drawn, as the retention tab does."""

from datetime import datetime

from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.retention.segments import SegmentOutlook, segment_outlooks
from console.kit.access.rights import Right
from console.kit.common.clock import now_ms, utc
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.state.clusters.access import access_topic

#: Listed one by one; a file has all that the broker tells.
SEGMENTS_SHOWN = 500
TITLES = ("first_offset", "last_offset", "records", "bytes", "newest_record", "goes_now", "goes_at", "goes_after_bytes")


@require_safe
def segments(request: UserRequest, name: str, partition: int) -> HttpResponseBase:
    topic = access_topic(request.user, name, Right.VIEW)
    if topic.partition_count and partition >= topic.partition_count:
        raise Http404(f"{topic.name} has {topic.partition_count} partitions.")
    context: dict[str, object] = {"topic": topic, "partition": partition}
    try:
        gateway = cluster_gateway()
        everything = gateway.segments_of(topic.name, partition)
        rules = gateway.retention_outlook([topic.name]).get(topic.name)
        if everything.error or rules is None:
            raise GatewayError(everything.error or "This partition has no leader.")
    except GatewayError as error:
        return render(request, "retention/segments.html", context | {"error": str(error)})
    doomed = {
        segment.first_offset: segment.reason
        for one in rules.partitions
        if one.partition == partition
        for segment in one.segments
    }
    outlooks = segment_outlooks(everything, rules, doomed)
    if wants_csv(request):
        return csv_response(request, f"segments-{topic.name}-{partition}", TITLES, map(_row, outlooks))
    at_ms = now_ms()
    shown = [(item, item.words(at_ms)) for item in outlooks[:SEGMENTS_SHOWN]]
    context |= {
        "everything": everything,
        "rules": rules,
        "shown": shown,
        "untold": everything.segment_count - len(outlooks),
    }
    context |= {"hidden": len(outlooks) - len(shown)}
    return render(request, "retention/segments.html", context)


def _row(outlook: SegmentOutlook) -> tuple[object, ...]:
    return (
        outlook.segment.first_offset,
        outlook.segment.last_offset,
        outlook.records,
        outlook.segment.size_bytes,
        _moment(outlook.segment.newest_at_ms),
        outlook.goes_now,
        _moment(outlook.goes_at_ms),
        outlook.bytes_left,
    )


def _moment(at_ms: int | None) -> datetime | int | None:
    return utc(at_ms) or at_ms if at_ms else None
