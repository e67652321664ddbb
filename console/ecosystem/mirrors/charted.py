"""What is charted of a topic that is mirrored: how fast, and how far behind its copy is."""

from collections.abc import Iterator
from hashlib import sha256

from console.cluster.charts.measures import MIRROR, NAME_LENGTH_MAX, Reading
from console.cluster.charts.panels import Panel, in_count, in_time, panel
from console.ecosystem.mirrors.models import MirroredTopic
from console.ecosystem.mirrors.queries import MirroredTopicRow
from console.kit.common.clock import now_ms
from console.kit.common.figures import rate
from console.state.clusters.models import ClusterState


def readings(_state: ClusterState) -> tuple[int, Iterator[Reading]]:
    """Return readings, each with its own time."""
    at_ms = now_ms()
    return at_ms, _readings(at_ms)


def series_name(row: MirroredTopic) -> str:
    name = f"{row.cluster}/{row.flow}/{row.topic}"
    if len(name) <= NAME_LENGTH_MAX:
        return name
    mark = f"#{sha256(name.encode()).hexdigest()[:16]}"
    return name[: NAME_LENGTH_MAX - len(mark)] + mark


def _readings(at_ms: int) -> Iterator[Reading]:
    for row in MirroredTopic.objects.iterator():
        topic = MirroredTopicRow(row, at_ms)
        known = (None, None, None) if topic.is_silent else (row.rate, row.lag, topic.behind_ms)
        yield Reading(MIRROR, series_name(row), known)


def panels(row: MirroredTopic) -> list[Panel]:
    name = series_name(row)
    return [
        panel(MIRROR, name, "Records copied per second", "", rate, records="records"),
        panel(MIRROR, name, "Records not copied", "", in_count, lag="records"),
        panel(MIRROR, name, "Behind by", "how old the last record copied is", in_time, behind="behind"),
    ]
