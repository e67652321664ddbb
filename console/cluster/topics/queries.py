"""Reading topics for pages: filtered, sorted and paged in the database."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Aggregate, Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.http import QueryDict
from django.utils.functional import cached_property

from console.cluster.notes.queries import topics_said_to_be, with_notes
from console.cluster.topics.deletion import DoomedTopic
from console.cluster.topics.grace_queries import with_going
from console.cluster.topics.platform import PLATFORM
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.access.rights import Right
from console.processes.topic_users import TopicUsage, uses_of
from console.state.clusters.access import rights_on_topic, topics_within
from console.state.clusters.models import Partition, Topic
from console.state.consumers.access import partitions_within
from console.state.consumers.models import GroupPartition

PARTITIONS_PER_PAGE = 100

#: What a column sorts by, as it stands in the address.
SORTS = {
    "name": "name",
    "partitions": "partition_count",
    "replication": "replication_factor",
    "urp": "under_replicated_count",
    "records": "record_count",
    "rate": "records_per_second",
    "out": "read_per_second",
    "leaderless": "leaderless_count",
    "size": "size_bytes",
    "growth": "day_growth_bytes",
    "last": "last_record_at_ms",
    "retention": "retention_ms",
    "groups": "group_count",
    "lag": "lag",
}
#: Columns that are counted from the groups' places, not stored: only asked for when sorted by.
_COUNTED: dict[str, dict[str, Aggregate]] = {
    "groups": {"group_count": Count("group", distinct=True)},
    "lag": {"lag": Sum("lag")},
}
#: What is known of a topic that shall go from its own row.
_TOLD = tuple(slot for slot in DoomedTopic.__slots__ if slot not in ("groups", "hidden_groups", "uses"))


@dataclass(frozen=True, slots=True)
class TopicListQuery:
    """What the topics page was asked for. Anything unknown falls back to the default; a page never fails for it."""

    search: str = ""
    sort: str = "name"
    is_descending: bool = False
    shows_internal: bool = False
    hides_platform: bool = False
    page: int = 1

    @classmethod
    def parse(cls, parameters: QueryDict) -> "TopicListQuery":
        wanted = parameters.get("sort", "name")
        sort = wanted.removeprefix("-")
        page = parameters.get("page", "1")
        return cls(
            search=parameters.get("search", "").strip()[:249],
            sort=sort if sort in SORTS else "name",
            is_descending=wanted.startswith("-") and sort in SORTS,
            shows_internal=parameters.get("internal") == "on",
            hides_platform=parameters.get("applications") == "on",
            page=int(page) if page.isascii() and page.isdigit() and len(page) < 9 else 1,
        )


def chosen_topics(query: TopicListQuery, reach: Reach) -> QuerySet[Topic]:
    """Return the topics in reach that the search and the switch select, with notes, in the requested order."""
    topics = topics_within(reach)
    if not query.shows_internal:
        topics = topics.filter(is_internal=False)
    if query.hides_platform:
        topics = topics.exclude(name__regex=PLATFORM)
    if query.search:
        topics = topics.filter(Q(name__icontains=query.search) | Q(name__in=topics_said_to_be(query.search)))
    if query.sort in _COUNTED:
        ((name, figure),) = _COUNTED[query.sort].items()
        places = partitions_within(reach).filter(topic=OuterRef("name")).order_by().values("topic")
        topics = topics.annotate(**{name: Subquery(places.annotate(figure=figure).values("figure"))})
    field = F(SORTS[query.sort])
    order = field.desc(nulls_last=True) if query.is_descending else field.asc(nulls_last=True)
    return as_listed(topics).order_by(order, "name")


def as_listed(topics: QuerySet[Topic]) -> QuerySet[Topic]:
    """Annotate topics with what a row shows besides the cluster's figures: notes, and a planned deletion."""
    return with_going(with_notes(topics))


def topic_page(query: TopicListQuery, reach: Reach, rows: int) -> "Page[Any]":
    page = Paginator(chosen_topics(query, reach), rows).get_page(query.page)
    page.object_list = with_groups(page.object_list, reach)
    return page


def with_groups(topics: Iterable[Topic], reach: Reach = EVERYTHING) -> list[Topic]:
    """Return the topics, each with `group_count` and `lag` (None without groups) of the groups in reach, in one query,
    and with `may_change`: whether a person of that reach may change it.
    """
    listed = list(topics)
    places = partitions_within(reach).filter(topic__in=[topic.name for topic in listed]).order_by().values_list("topic")
    counted = {name: (groups, lag) for name, groups, lag in places.annotate(Count("group", distinct=True), Sum("lag"))}
    for topic in listed:
        topic.group_count, topic.lag = counted.get(topic.name, (0, None))
        topic.may_change = Right.OPERATE in rights_on_topic(reach, topic)
    return listed


def groups_of(topic: str, reach: Reach) -> list[str]:
    """Return the names of groups in reach with committed offsets in the topic."""
    places = partitions_within(reach).filter(topic=topic, committed__isnull=False)
    return sorted(places.order_by().values_list("group__name", flat=True).distinct())


class _PartitionPages(Paginator):  # type: ignore[type-arg]  # it takes none when it runs
    """Pages of one topic, whose row has their number."""

    def __init__(self, topic: Topic):
        super().__init__(Partition.objects.filter(topic=topic).select_related("topic"), PARTITIONS_PER_PAGE)
        self._partition_count = topic.partition_count

    @cached_property
    def count(self) -> int:
        return self._partition_count


def partition_page(topic: Topic, page: str) -> "Page[Any]":
    return _PartitionPages(topic).get_page(page)


def doomed(topic: Topic, reach: Reach) -> DoomedTopic:
    """Return what a plan to delete the topic depends on; dependents outside of `reach` are counted, not named."""
    return doomed_topics([topic], reach)[0]


def doomed_topics(topics: Sequence[Topic], reach: Reach) -> list[DoomedTopic]:
    names = [topic.name for topic in topics]
    uses, committed = uses_of(names, reach), GroupPartition.objects.filter(topic__in=names, committed__isnull=False)
    readers: dict[str, dict[int, str]] = defaultdict(dict)
    for topic, number, group in committed.order_by().values_list("topic", "group_id", "group__name").distinct():
        readers[topic][number] = group
    return [_doomed(topic, readers[topic.name], uses.get(topic.name, ()), reach) for topic in topics]


def _doomed(topic: Topic, readers: dict[int, str], uses: tuple[TopicUsage, ...], reach: Reach) -> DoomedTopic:
    seen = {number for number, group in readers.items() if Right.VIEW in reach.rights_on(Resource.GROUP, group)}
    return DoomedTopic(
        **{field: getattr(topic, field) for field in _TOLD},
        groups=sorted(readers[number] for number in seen),
        hidden_groups=frozenset(readers.keys() - seen),
        uses=uses,
    )
