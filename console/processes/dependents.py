"""Which stream jobs and Connect workers read and write which topics, by their settings, and who hangs on whom."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.access.rights import Right
from console.kit.common.hook_point import HookPoint
from console.kit.gateway.processes.stream_jobs import topic_keys
from console.processes.models import ManagedProcess
from console.state.consumers.access import partitions_within

#: Names in a sentence; the rest are counted.
NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class Wiring:
    """What one process reads and writes. `label` is its kind and name: stream job clicks-by-page."""

    name: str
    label: str
    runs: bool
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Inmate:
    """What runs within a process of the console's, and has its rights: a connector."""

    name: str
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()


#: What runs within a process.
INMATES = HookPoint[Callable[[ManagedProcess], list[Inmate]]]("console.processes.dependents.INMATES")


@dataclass(frozen=True, slots=True)
class Dependents:
    """Dependents of a process: what runs within it, the topics it fills, and the running processes and groups that read
    those.
    """

    topics: tuple[str, ...] = ()
    processes: tuple[Wiring, ...] = ()
    groups: tuple[str, ...] = ()
    inmates: tuple[str, ...] = ()

    @property
    def confirmed(self) -> tuple[str, ...]:
        names = [process.name for process in self.processes]
        return (
            f"fills={list(self.topics)}",
            f"feeds={names}",
            f"groups={list(self.groups)}",
            f"runs={list(self.inmates)}",
        )


def wirings(*kinds: object) -> list[Wiring]:
    """Return the wirings of every process of `kinds` that is a client of the cluster; of all kinds without any."""
    clients = kinds or (ManagedProcess.Kind.STREAM, ManagedProcess.Kind.CONNECT)
    rows = ManagedProcess.objects.filter(kind__in=clients).select_related("progress").order_by("name")
    return [wiring_of(row) for row in rows]


def wiring_of(process: ManagedProcess) -> Wiring:
    """Return the process's topics, by its properties and its driver's last report."""
    properties = process.spec.get("properties", {})
    reads: set[str] = set()
    writes: set[str] = set()
    if process.kind == ManagedProcess.Kind.CONNECT:
        for inmate in inmates_of(process):
            reads |= inmate.reads
            writes |= inmate.writes
    elif process.kind == ManagedProcess.Kind.STREAM:
        keys = topic_keys(properties.get("job", ""), properties)
        reads = {properties[key] for key in keys.reads if key in properties}
        writes = {properties[key] for key in keys.writes if key in properties}
        progress = getattr(process, "progress", None)
        reads |= set((progress.facts.get("lags") or {}) if progress else ())
    label = f"{process.get_kind_display()} {process.name}"
    return Wiring(process.name, label, process.pid is not None, frozenset(reads), frozenset(writes))


def inmates_of(process: ManagedProcess) -> list[Inmate]:
    return [inmate for inmates_in in INMATES for inmate in inmates_in(process)]


def dependents_of(process: ManagedProcess) -> Dependents:
    """Return what stops or waits when `process` ends."""
    own = wiring_of(process)
    fed = tuple(wiring for wiring in wirings() if wiring.runs and wiring.name != own.name and wiring.reads & own.writes)
    places = partitions_within(EVERYTHING).filter(topic__in=own.writes, committed__isnull=False)
    groups = places.order_by("group__name").values_list("group__name", flat=True).distinct()
    inmates = tuple(sorted(inmate.name for inmate in inmates_of(process)))
    return Dependents(tuple(sorted(own.writes)), fed, tuple(groups), inmates)


def dependents_sentences(dependents: Dependents, reach: Reach = EVERYTHING) -> Iterable[str]:
    """Return sentences that name only dependents in `reach`."""
    if dependents.inmates:
        verb = "stands" if len(dependents.inmates) == 1 else "stand"
        yield f"{_listed(dependents.inmates, Resource.PROCESS, 'connector', reach)} {verb} still meanwhile."
    if dependents.topics:
        yield f"Nothing new comes to {_listed(dependents.topics, Resource.TOPIC, 'topic', reach)} meanwhile."
    if dependents.processes:
        names = [process.name for process in dependents.processes]
        verb = "reads" if len(names) == 1 else "read"
        yield f"{_listed(names, Resource.PROCESS, 'process', reach)} {verb} what it writes, and will wait."
    if dependents.groups:
        verb = "reads" if len(dependents.groups) == 1 else "read"
        yield f"{_listed(dependents.groups, Resource.GROUP, 'consumer group', reach)} {verb} what it writes."


def _listed(names: Sequence[str], resource: Resource, noun: str, reach: Reach) -> str:
    """Return `a, b and 3 more`, or `2 topics` where none of them may be named."""
    named = [name for name in names if Right.VIEW in reach.rights_on(resource, name)][:NAMED_MAX]
    if not named:
        plural = "" if len(names) == 1 else "es" if noun.endswith("s") else "s"
        return f"{len(names)} {noun}{plural}"
    more = len(names) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
