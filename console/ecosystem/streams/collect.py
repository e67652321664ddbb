"""Looking at what the drivers of this host write about themselves, and showing it to whoever is there."""

from django.conf import settings

from console.ecosystem.streams.feature import stream_group
from console.ecosystem.streams.models import StreamProgress
from console.ecosystem.streams.queries import shown_stream
from console.kit.access.reach import EVERYTHING
from console.kit.features.headers import facts_of
from console.kit.live import groups
from console.kit.live.push import push_partial
from console.processes.models import ManagedProcess
from console.processes.readiness import read_progress


def look_at_streams() -> int:
    """Keep and push what changed; how many did. A job on another host is looked at there."""
    rows = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.STREAM, host=settings.HOST_NAME)
    return sum(_look(row) for row in rows.select_related("progress"))


def _look(process: ManagedProcess) -> bool:
    facts = read_progress(process.data_dir)
    kept = getattr(process, "progress", None)
    if not facts:
        return False
    facts = facts | {"process": process.state}  # a driver that was killed writes nothing any more, and is shown so
    if kept is not None and kept.facts == facts:
        return False
    if kept is None:
        process.progress, _ = StreamProgress.objects.update_or_create(process=process, defaults={"facts": facts})
    else:
        kept.facts = facts
        kept.save(update_fields=["facts"])
    push_stream(process)
    return True


def push_stream(process: ManagedProcess) -> None:
    stream = shown_stream(process)
    push_partial(groups.STREAMS, "streams/partials/row.html", {"stream": stream})
    push_partial(stream_group(process.name), "streams/partials/progress.html", {"stream": stream})
    figures: dict[str, object] = {"facts": facts_of("stream", stream, EVERYTHING)}
    push_partial(stream_group(process.name), "components/object-figures.html", figures)
