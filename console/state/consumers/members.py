"""Members of groups as the collector stores them and as a page shows them. Pure."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

from console.kit.common.partition_numbers import format_partitions
from console.kit.gateway.groups.interface import MemberView, Subtopology, TopicPartition

#: Of a member, topics that are named, and the length of the text that names partitions of one.
TOPICS_NAMED_MAX = 50
RANGES_LENGTH_MAX = 300
#: In the place of a pattern of topics.
PATTERN_HIDDEN = "(hidden)"
#: A topic and its partitions as `0-2,5`, for each topic.
Places = tuple[tuple[str, str], ...]


class MemberRow(NamedTuple):
    """A member as it is stored: a list of these values, those that were added later last."""

    member_id: str
    client_id: str
    host: str
    instance_id: str
    partition_count: int
    #: None: groups of this type have no epochs of members.
    epoch: int | None = None
    assigned: Places = ()
    #: What it is to hold; None: what it holds, or the type knows no target.
    target: Places | None = None
    #: Of a streams group, as `active 0: 0-2; standby 1: 0`.
    tasks: str = ""
    target_tasks: str = ""
    rack: str = ""
    subscription: tuple[str, ...] = ()
    regex: str = ""
    #: It speaks the classic protocol, in a group of another type.
    is_classic: bool = False

    @property
    def assigned_text(self) -> str:
        return self.tasks or _text(self.assigned)

    @property
    def target_text(self) -> str:
        """The member's target; empty if it has it already."""
        if self.target is None:
            return ""
        return self.target_tasks or _text(self.target) or "nothing"

    @property
    def subscription_text(self) -> str:
        return ", ".join([*self.subscription, *([f"regex {self.regex}"] if self.regex else [])])


def member_row(member: MemberView) -> MemberRow:
    is_moving = member.target is not None and (member.target, member.target_tasks) != (member.assigned, member.tasks)
    return MemberRow(
        member.member_id,
        member.client_id,
        member.host,
        member.instance_id,
        len(member.assigned),
        member.epoch,
        _places(member.assigned),
        _places(member.target) if is_moving and member.target is not None else None,
        member.tasks,
        member.target_tasks if is_moving else "",
        member.rack,
        member.subscription[:TOPICS_NAMED_MAX],
        member.regex,
        member.is_classic,
    )


def member_of(stored: Sequence[Any]) -> MemberRow:
    """Return the member that was stored as JSON; an earlier release stored the first five values."""
    row = MemberRow(*stored)
    return row._replace(
        assigned=_pairs(row.assigned),
        target=None if row.target is None else _pairs(row.target),
        subscription=tuple(row.subscription),
    )


def member_within(member: MemberRow, may_see: Callable[[str], bool]) -> MemberRow:
    """Return the member without names of topics that a person may not see."""
    return member._replace(
        assigned=tuple(place for place in member.assigned if may_see(place[0])),
        target=None if member.target is None else tuple(place for place in member.target if may_see(place[0])),
        subscription=tuple(filter(may_see, member.subscription)),
    )


def without_pattern(member: MemberRow) -> MemberRow:
    """Return the member without the pattern that it subscribes to: it can name a topic that a person may not see."""
    return member._replace(regex=PATTERN_HIDDEN) if member.regex else member


def subtopology_within(part: Subtopology, may_see: Callable[[str], bool]) -> Subtopology:
    """Return the part without names of topics that a person may not see."""
    topics = (part.source_topics, part.repartition_topics, part.sink_topics, part.changelog_topics)
    return Subtopology(part.name, *(tuple(filter(may_see, names)) for names in topics))


@lru_cache(4_096)
def _places(places: tuple[TopicPartition, ...]) -> Places:
    """Return sorted partitions by topic, cut where they get long."""
    topics = groupby(places, key=itemgetter(0))
    return tuple(
        (topic, _ranges(number for _, number in iterator)) for topic, iterator in islice(topics, TOPICS_NAMED_MAX)
    )


def _ranges(numbers: Iterable[int]) -> str:
    text = format_partitions(numbers)
    return text if len(text) <= RANGES_LENGTH_MAX else f"{text[:RANGES_LENGTH_MAX]}…"


def _pairs(stored: Sequence[Sequence[str]]) -> Places:
    return tuple((topic, ranges) for topic, ranges in stored)


def _text(places: Places) -> str:
    return "; ".join(f"{topic} {ranges}" for topic, ranges in places)
