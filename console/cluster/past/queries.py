"""What was true at a moment, of what a person may see."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet, Sum
from django.http import QueryDict

from console.cluster.charts.measures import CLUSTER, GROUP
from console.cluster.charts.queries import Past
from console.cluster.past.bands import TopicSpan
from console.cluster.past.models import TimelineKind, Unseen, Was
from console.cluster.past.states import BrokerThen, GroupThen, PartitionThen, TopicThen, unpack_settings
from console.kit.access.filters import within
from console.kit.access.reach import Reach, Resource
from console.kit.access.roles import Right
from console.kit.common.clock import moment_of
from console.state.clusters.models import Partition, Topic

ROWS_PER_PAGE = 50
#: Of a topic within a span: what is drawn.
CHANGES_MAX = 1_000
_HOUR_MS = 3_600_000
#: How far before the moment a charted value may be.
_CHARTED_BACK_MS = 15 * 60_000
TOPIC_TITLES = ("topic", "partitions", "out_of_sync", "leaderless", "since", "until")
GROUP_TITLES = ("group", "state", "members", "coordinator", "lag", "since", "until")
BROKER_TITLES = ("broker", "registered", "address", "rack", "since", "until")
PARTITION_TITLES = ("partition", "leader", "replicas", "isr", "leader_now", "replicas_now", "isr_now")


@dataclass(frozen=True, slots=True)
class PastQuery:
    """The moment to show: `at_ms` lies between the oldest kept state and now. An invalid value counts as unset."""

    at_ms: int
    begins_ms: int
    now_ms: int
    search: str = ""
    shown: str = "all"

    @classmethod
    def parse(cls, parameters: QueryDict, now_ms: int) -> "PastQuery":
        begins_ms = min(begins(), now_ms)
        moment = moment_of(parameters.get("at", ""))
        slid = parameters.get("ms", "")
        if slid.isascii() and slid.isdigit() and len(slid) < 16:
            at_ms = int(slid)
        else:
            at_ms = now_ms - _HOUR_MS if moment is None else int(moment.timestamp() * 1000)
        shown = parameters.get("shown", "")
        return cls(
            at_ms=max(begins_ms, min(at_ms, now_ms)),
            begins_ms=begins_ms,
            now_ms=now_ms,
            search=parameters.get("search", "").strip()[:249],
            shown=shown if shown in ("trouble", "changed") else "all",
        )

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.at_ms / 1000, UTC)

    @property
    def iso(self) -> str:
        return self.at.isoformat()

    @property
    def steps(self) -> list[tuple[str, str]]:
        """(words, the moment there) of ways from here, within what is kept."""
        steps = []
        for minutes, words in ((-1440, "a day"), (-60, "an hour"), (-5, "5 min"), (5, "5 min"), (60, "an hour")):
            at_ms = self.at_ms + minutes * 60_000
            if self.begins_ms <= at_ms <= self.now_ms:
                moment = datetime.fromtimestamp(at_ms / 1000, UTC)
                steps.append((f"{words} {'earlier' if minutes < 0 else 'later'}", moment.isoformat()))
        return steps


def begins() -> int:
    """Return when the kept history begins, ms; 0 if there is none."""
    first = Unseen.objects.filter(from_ms=0).values_list("until_ms", flat=True).first()
    return first or 0


def unseen_at(at_ms: int) -> Unseen | None:
    """Return the time around `at_ms` at which nobody looked."""
    return Unseen.objects.filter(from_ms__gt=0, from_ms__lt=at_ms, until_ms__gt=at_ms).first()


def was(kind: str, at_ms: int) -> QuerySet[Was]:
    return Was.objects.filter(Q(until_ms=None) | Q(until_ms__gt=at_ms), kind=kind, from_ms__lte=at_ms)


def topics_then(query: PastQuery, reach: Reach) -> QuerySet[Was]:
    topics = was(TimelineKind.TOPIC, query.at_ms).filter(
        within(reach, Resource.TOPIC, "name"), name__icontains=query.search
    )
    if query.shown == "trouble":
        topics = topics.filter(Q(out_of_sync_count__gt=0) | Q(leaderless_count__gt=0))
    elif query.shown == "changed":
        topics = topics.exclude(until_ms=None)
    return topics.order_by("-leaderless_count", "-out_of_sync_count", "name")


@dataclass(frozen=True, slots=True)
class TimelineTotals:
    topics: int
    partitions: int
    out_of_sync: int
    leaderless: int
    brokers: int
    registered: int
    controller: str | None
    #: None: not known, or not for this person.
    records_per_second: float | None
    lag: float | None


def totals(query: PastQuery, reach: Reach) -> TimelineTotals:
    topics = was(TimelineKind.TOPIC, query.at_ms).filter(within(reach, Resource.TOPIC, "name"))
    sums = topics.aggregate(
        topics=Count("pk"),
        partitions=Sum("partition_count", default=0),
        out_of_sync=Sum("out_of_sync_count", default=0),
        leaderless=Sum("leaderless_count", default=0),
    )
    brokers = brokers_then(query)
    controller = was(TimelineKind.CONTROLLER, query.at_ms).values_list("name", flat=True).first()
    charted = _charted([(CLUSTER, "")], query.at_ms) if reach.sees_all_names else None
    return TimelineTotals(
        **sums,
        brokers=len(brokers),
        registered=sum(then.is_registered for _, then in brokers),
        controller=controller,
        records_per_second=_value(charted, CLUSTER, "", "records"),
        lag=_value(charted, CLUSTER, "", "lag"),
    )


def brokers_then(query: PastQuery) -> list[tuple[Was, BrokerThen]]:
    rows = [(row, BrokerThen.unpack(bytes(row.state))) for row in was(TimelineKind.BROKER, query.at_ms)]
    return sorted(rows, key=lambda row: int(row[0].name))


def topic_page(query: PastQuery, reach: Reach, page: str) -> "Page[Any]":
    return Paginator(topics_then(query, reach), ROWS_PER_PAGE).get_page(page)


@dataclass(frozen=True, slots=True)
class GroupRowThen:
    row: Was
    then: GroupThen
    #: None: not known, or it holds figures of topics that are hidden.
    lag: float | None = None


def groups_then(query: PastQuery, reach: Reach) -> list[GroupRowThen]:
    """Return the groups then that are in reach, as `consumers.access.groups_within`: others would reveal
    hidden topics.
    """
    rows = was(TimelineKind.GROUP, query.at_ms).filter(
        within(reach, Resource.GROUP, "name"), name__icontains=query.search
    )
    if query.shown == "changed":
        rows = rows.exclude(until_ms=None)
    groups = [GroupRowThen(row, GroupThen.unpack(bytes(row.state))) for row in rows]
    return [item for item in groups if not item.then.topics or _seen(item.then, reach)]


def with_lags(groups: Iterable[GroupRowThen], query: PastQuery, reach: Reach) -> list[GroupRowThen]:
    rows = list(groups)
    charted = _charted([(GROUP, row.row.name) for row in rows], query.at_ms)
    return [
        GroupRowThen(row.row, row.then, _value(charted, GROUP, row.row.name, "lag"))
        if len(_seen(row.then, reach)) == len(row.then.topics)
        else row
        for row in rows
    ]


def _seen(group: GroupThen, reach: Reach) -> list[str]:
    if not reach.is_limited(Resource.TOPIC):
        return list(group.topics)
    return [name for name in group.topics if Right.VIEW in reach.rights_on(Resource.TOPIC, name)]


def _charted(keys: list[tuple[str, str]], at_ms: int) -> Past:
    return Past(keys, at_ms - _CHARTED_BACK_MS, at_ms, back_ms=max(0, _now_back(at_ms)))


def _now_back(at_ms: int) -> int:
    return int(datetime.now(UTC).timestamp() * 1000) - at_ms


def _value(charted: Past | None, kind: str, name: str, measure: str) -> float | None:
    values = [] if charted is None else charted.values(kind, name, measure)
    return values[-1][1] if values else None


@dataclass(frozen=True, slots=True)
class PartitionPair:
    """A partition then and now; one of them may be None."""

    number: int
    then: PartitionThen | None
    now: Partition | None

    @property
    def differs(self) -> bool:
        if self.then is None or self.now is None:
            return True
        return (self.then.leader, list(self.then.replicas), sorted(self.then.isr)) != (
            self.now.leader,
            self.now.replicas,
            sorted(self.now.isr),
        )


@dataclass(frozen=True, slots=True)
class TopicPair:
    """A topic at a moment beside the topic now. `settings`: (name, then, now) of its own; None: it had none then."""

    row: Was | None
    partitions: tuple[PartitionPair, ...]
    settings: tuple[tuple[str, str | None, str | None], ...]
    #: False: the cluster had not told its settings by then.
    are_settings_known: bool
    is_there_now: bool

    @property
    def differing(self) -> int:
        return sum(partition.differs for partition in self.partitions) + sum(
            then != now for _, then, now in self.settings
        )


def topic_pair(name: str, query: PastQuery) -> TopicPair:
    row = was(TimelineKind.TOPIC, query.at_ms).filter(name=name).first()
    then = (
        {}
        if row is None
        else {partition.partition: partition for partition in TopicThen.unpack(bytes(row.state)).partitions}
    )
    now = {
        partition.partition: partition
        for partition in Partition.objects.filter(topic__name=name).select_related("topic")
    }
    pairs = tuple(PartitionPair(number, then.get(number), now.get(number)) for number in sorted({*then, *now}))
    before, after = _settings(name, query.at_ms), _settings(name, query.now_ms) or {}
    names = sorted({*(before or {}), *after})
    settings = tuple((name, (before or {}).get(name), after.get(name)) for name in names)
    is_there_now = Topic.objects.filter(name=name).exists()
    return TopicPair(row, pairs, settings, before is not None, is_there_now)


def _settings(name: str, at_ms: int) -> dict[str, str] | None:
    row = was(TimelineKind.SETTINGS, at_ms).filter(name=name).first()
    return None if row is None else unpack_settings(bytes(row.state))


def known_of(name: str, from_ms: int, to_ms: int) -> list[TopicSpan]:
    """Return a topic's states within the span, oldest first; the newest of too many."""
    rows = Was.objects.filter(
        Q(until_ms=None) | Q(until_ms__gt=from_ms), kind=TimelineKind.TOPIC, name=name, from_ms__lte=to_ms
    )
    newest = rows.order_by("-from_ms")[:CHANGES_MAX]
    return [
        TopicSpan(row.from_ms, row.until_ms or to_ms, TopicThen.unpack(bytes(row.state))) for row in reversed(newest)
    ]


def unseen_within(from_ms: int, to_ms: int) -> list[Unseen]:
    return list(Unseen.objects.filter(until_ms__gt=from_ms, from_ms__lt=to_ms))


def topic_cells(rows: QuerySet[Was]) -> Iterator[tuple[object, ...]]:
    for row in rows.iterator():
        counts = (row.partition_count, row.out_of_sync_count, row.leaderless_count)
        yield (row.name, *counts, _moment(row.from_ms), _moment(row.until_ms))


def group_cells(rows: Iterable[GroupRowThen]) -> Iterator[tuple[object, ...]]:
    for row_then in rows:
        then, row = row_then.then, row_then.row
        span = _moment(row.from_ms), _moment(row.until_ms)
        yield (row.name, then.state, then.member_count, then.coordinator, row_then.lag, *span)


def broker_cells(rows: Iterable[tuple[Was, BrokerThen]]) -> Iterator[tuple[object, ...]]:
    for row, then in rows:
        address = f"{then.host}:{then.port}" if then.host else ""
        yield (int(row.name), then.is_registered, address, then.rack, _moment(row.from_ms), _moment(row.until_ms))


def partition_cells(pairs: Iterable[PartitionPair]) -> Iterator[tuple[object, ...]]:
    for pair in pairs:
        sides = (
            (side.leader, side.replicas, side.isr) if side else (None, None, None) for side in (pair.then, pair.now)
        )
        yield (pair.number, *(cell for side in sides for cell in side))


def _moment(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC)
