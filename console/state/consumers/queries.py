"""Reading groups for pages: filtered, sorted and paged in the database."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from django.core.paginator import Page, Paginator
from django.db.models import F, Q, QuerySet, Sum
from django.db.models.expressions import Combinable, OrderBy
from django.http import QueryDict

from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.access.rights import Right
from console.kit.common.clock import now_ms
from console.kit.gateway.groups.interface import Subtopology
from console.state.consumers.access import groups_within, partitions_within, reads_beyond
from console.state.consumers.members import MemberRow, member_within, subtopology_within, without_pattern
from console.state.consumers.models import ConsumerGroup, GroupPartition
from console.state.consumers.rows import details_of
from console.state.consumers.verdict import LagVerdict

PLACES_PER_PAGE = 100
#: Column → the field it sorts by, and whether the other way round.
_Sorts: TypeAlias = Mapping[str, tuple[str, bool]]
#: What a column sorts by. Time unread sorts by its beginning, and how soon records expire by when: so the other way.
SORTS = {
    "name": ("name", False),
    "verdict": ("severity", False),
    "type": ("group_type", False),
    "state": ("state", False),
    "members": ("member_count", False),
    "lag": ("lag", False),
    "behind": ("behind_since_ms", True),
    "trend": ("lag_per_second", False),
    "expires": ("expires_at_ms", False),
}
PLACE_SORTS = {
    "partition": ("topic", False),
    "lag": ("lag", False),
    "behind": ("behind_since_ms", True),
}
_BAD = [condition.value for condition in LagVerdict if condition.is_bad]


@dataclass(frozen=True, slots=True)
class GroupListQuery:
    """What the page was asked for. Anything unknown falls back to the default; a page never fails for it."""

    search: str = ""
    sort: str = "name"
    is_descending: bool = False
    only_bad: bool = False
    #: As Kafka writes it; empty: groups of every type.
    group_type: str = ""
    page: int = 1

    @classmethod
    def parse(cls, parameters: QueryDict, sorts: _Sorts = SORTS, default: str = "name") -> "GroupListQuery":
        wanted = parameters.get("sort", default)
        sort = wanted.removeprefix("-")
        page = parameters.get("page", "1")
        return cls(
            search=parameters.get("search", "").strip()[:249],
            sort=sort if sort in sorts else default,
            is_descending=wanted.startswith("-") and sort in sorts,
            only_bad=parameters.get("bad") == "on",
            group_type=parameters.get("type", "").strip()[:40],
            page=int(page) if page.isascii() and page.isdigit() and len(page) < 9 else 1,
        )


def groups_in_trouble(at_ms: int | Combinable, reach: Reach = EVERYTHING) -> QuerySet[ConsumerGroup]:
    """Return those in reach that read badly, lost records or will (`ConsumerGroup.is_expiring`); the worst first."""
    groups = groups_within(reach).filter(_is_in_trouble(at_ms)).defer("members", "topics")
    return groups.order_by("-severity", F("expires_at_ms").asc(nulls_last=True), "name")


def _is_in_trouble(at_ms: int | Combinable) -> Q:
    soon = Q(expires_at_ms__lt=at_ms + 3_600_000) | Q(expires_at_ms__lt=(10 * at_ms - F("behind_since_ms")) / 9)
    sooner_than_it_waited = Q(expires_at_ms__lt=2 * at_ms - F("behind_since_ms"))
    return Q(verdict__in=_BAD) | Q(lost__gt=0) | (soon & sooner_than_it_waited)


def chosen_groups(query: GroupListQuery, reach: Reach) -> QuerySet[ConsumerGroup]:
    """Return the groups in reach; the search covers their names and topics."""
    groups = groups_within(reach)
    if query.search:
        in_topic = partitions_within(reach).filter(topic__icontains=query.search).values("group")
        groups = groups.filter(Q(name__icontains=query.search) | Q(pk__in=in_topic))
    if query.group_type:
        groups = groups.filter(group_type=query.group_type)
    if query.only_bad:
        groups = groups.filter(_is_in_trouble(now_ms()))
    return groups.defer("members").order_by(_order(query, SORTS), "name")


def group_list_page(query: GroupListQuery, reach: Reach, rows: int) -> "Page[Any]":
    page = Paginator(chosen_groups(query, reach), rows).get_page(query.page)
    page.object_list = list(with_topics_within(page.object_list, reach))
    return page


def types_seen(reach: Reach) -> list[str]:
    """Return the types of groups in reach, sorted: what the list can be filtered by."""
    return sorted(set(groups_within(reach).order_by().values_list("group_type", flat=True)))


def with_topics_within(groups: Iterable[ConsumerGroup], reach: Reach) -> Iterator[ConsumerGroup]:
    """Yield the groups, each naming only the topics in reach.

    `reads_beyond` says that there are others; `may_change`, whether a person of that reach may change the group.
    """
    for group in groups:
        seen = [topic for topic in group.topics if _may_see(reach, topic)]
        group.reads_beyond = len(seen) < len(group.topics)
        rights = reach.rights_on(Resource.GROUP, group.name)
        group.may_change = group.is_understood and not group.reads_beyond and Right.OPERATE in rights
        group.topics = seen
        yield group


def members_within(group: ConsumerGroup, reach: Reach) -> list[MemberRow]:
    """Return its members, each naming only topics in reach, and no pattern of topics where some are not."""
    is_limited = reach.is_limited(Resource.TOPIC)
    members = [member_within(member, partial(_may_see, reach)) for member in group.member_rows]
    return [without_pattern(member) for member in members] if is_limited else members


def with_reads(group: ConsumerGroup, members: Iterable[MemberRow]) -> list[tuple[MemberRow, float | None]]:
    """Return each member with the records per second that it reads; None: not known, or it holds no partition."""
    held = group.partitions.exclude(member_id="").exclude(read_per_second=None).order_by().values_list("member_id")
    read = dict(held.annotate(read=Sum("read_per_second")))
    return [(member, read.get(member.member_id)) for member in members]


def subtopologies_within(group: ConsumerGroup, reach: Reach) -> list[Subtopology]:
    """Return the parts of a streams application, each naming only topics in reach."""
    parts = details_of(group.details).subtopologies
    return [subtopology_within(part, partial(_may_see, reach)) for part in parts]


def _may_see(reach: Reach, topic: str) -> bool:
    return Right.VIEW in reach.rights_on(Resource.TOPIC, topic)


def topics_left(group: ConsumerGroup, reach: Reach) -> list[str]:
    """Return the topics with offsets that no member reads now; none if the person may not change the group."""
    if reads_beyond(group, reach):
        return []
    read = set(group.partitions.exclude(member_id="").values_list("topic", flat=True))
    return [topic for topic in group.topics if topic not in read]


def chosen_partitions(group: ConsumerGroup, query: GroupListQuery, reach: Reach) -> QuerySet[GroupPartition]:
    places = partitions_within(reach).filter(group=group)
    if query.search:
        places = places.filter(topic__icontains=query.search)
    return _sorted_partitions(places, query, "topic")


def partitions_in_topic(topic: str, query: GroupListQuery, reach: Reach) -> QuerySet[GroupPartition]:
    """Return the partitions of every group in reach that reads the topic."""
    places = partitions_within(reach).filter(topic=topic).select_related("group").defer("group__members")
    if query.search:
        places = places.filter(group__name__icontains=query.search)
    return _sorted_partitions(places, query, "group__name")


def partition_page(places: QuerySet[GroupPartition], query: GroupListQuery) -> "Page[Any]":
    return Paginator(places, PLACES_PER_PAGE).get_page(query.page)


def _sorted_partitions(places: QuerySet[GroupPartition], query: GroupListQuery, first: str) -> QuerySet[GroupPartition]:
    if query.sort == "partition":
        flip = "-" if query.is_descending else ""
        return places.order_by(f"{flip}{first}", f"{flip}partition")
    return places.order_by(_order(query, PLACE_SORTS), first, "partition")


def _order(query: GroupListQuery, sorts: _Sorts) -> OrderBy:
    field, is_turned = sorts[query.sort]
    descends = query.is_descending != is_turned
    return F(field).desc(nulls_last=True) if descends else F(field).asc(nulls_last=True)
