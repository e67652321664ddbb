"""The one door through which a view gets a stream job, and what is known of the offsets it goes on from."""

from collections.abc import Mapping

from django.conf import settings
from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from django.utils import timezone

from console.ecosystem.streams.models import StreamProgress
from console.ecosystem.streams.presenters import ShownStream
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, require_on
from console.kit.gateway.processes.stream_jobs import checkpoint_of
from console.processes.access import access_processes
from console.processes.models import ManagedProcess
from console.processes.presenters import ManagedProcessRow
from console.state.clusters.models import Partition

#: (topic, partition) → offset.
Offsets = Mapping[tuple[str, int], int]


def access_streams(user: User) -> list[ShownStream]:
    """Return the stream jobs in reach; PermissionDenied without the right to view any."""
    rows = access_processes(user).filter(kind=ManagedProcess.Kind.STREAM).select_related("progress").order_by("name")
    return [shown_stream(row) for row in rows]


def access_stream(user: User, name: str, right: Right = Right.VIEW) -> ManagedProcess:
    """Return a stream job. Raises PermissionDenied without `right`, and Http404 if there is no such job."""
    require_on(user, Resource.PROCESS, name, right)
    return get_object_or_404(ManagedProcess, name=name, kind=ManagedProcess.Kind.STREAM)


def shown_stream(process: ManagedProcess, *, quotes: bool = False) -> ShownStream:
    """Return the stream. quotes: whether to show the query's error. As the log does, it quotes records: see
    `why_no_log`.
    """
    try:
        facts = process.progress.facts
    except StreamProgress.DoesNotExist:
        facts = {}
    return ShownStream(ManagedProcessRow(process, timezone.now()), facts, quotes)


def is_here(process: ManagedProcess) -> bool:
    """Return whether its files lie on this host."""
    return process.host == settings.HOST_NAME


def positions_of(process: ManagedProcess) -> Offsets | None:
    """Return the offsets where the checkpoint continues; None without one, or on another host."""
    return checkpoint_of(process.data_dir) if is_here(process) else None


def log_starts(topics: set[str]) -> Offsets:
    """Return the known log starts of the topics; unknown ones are missing."""
    return _offsets(topics, "first_offset")


def log_ends(topics: set[str]) -> Offsets:
    return _offsets(topics, "next_offset")


def _offsets(topics: set[str], column: str) -> Offsets:
    rows = Partition.objects.filter(topic__name__in=topics).values_list("topic__name", "partition", column)
    return {(topic, index): offset for topic, index, offset in rows if offset is not None}
