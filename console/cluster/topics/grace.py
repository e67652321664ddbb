"""Deleting topics after a day of grace: what is planned, and whether it still holds when the day is over. Pure.

Nothing is done to a topic before its day is over, so calling it off has nothing to put back. It is not closed for
writing meanwhile either. A rule that denies it needs an authorizer, holds for no super user, and outlives a console
that died before it took the rule away, so that the next topic of that name could not be written to; and it would hide
what the day is for: whoever writes to the topic or reads it shows that it is needed, and then it is kept.

What a Kafka tells of use are the ends of its partitions, what groups have committed, and their members. Who reads
without a group is seen by nobody, and the plan says so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from console.cluster.topics.deletion import DoomedTopic, deletion_plan
from console.cluster.topics.many import counted, deletion_of_many
from console.kit.common.figures import grouped, minute
from console.kit.gateway.groups.interface import GroupsView
from console.kit.gateway.records.interface import OffsetSpan
from console.kit.plans.plan import Plan, PlanLine
from console.processes.topic_users import TopicUsage

LATER, MANY_LATER, CALL_OFF = "delete topic later", "delete topics later", "call off deletion"
GRACE = timedelta(days=1)
#: What could not be done for so long is not done any more: nobody expects it by then.
LATE_MAX = timedelta(days=1)
#: Whose places are remembered for a topic.
GROUPS_MAX = 1_000
_UNSEEN = "Consumers without a group, or without commits, leave no trace: they may still read it."


@dataclass(frozen=True, slots=True)
class Traces:
    """What the use of a topic has come to. None among `ends`: that partition did not answer."""

    topic_id: str
    ends: tuple[int | None, ...]
    places: Mapping[str, int]
    #: Groups that have a member with a partition of it.
    active: frozenset[str] = frozenset()
    #: Coordinators that did not answer, and groups that were not described: what these read is not known.
    silent: int = 0

    @property
    def unknown(self) -> str:
        """Why it is unknown how the topic is used now; empty if it is known."""
        if None in self.ends or not self.ends:
            return "Some partitions do not answer, so it is unknown whether it is still written."
        if self.silent:
            return "Some coordinators do not describe their groups, so it is unknown which groups read it."
        return ""


@dataclass(frozen=True, slots=True)
class DeletionFacts:
    """What a deletion is asked again when it is due. `uses`: of whatever runs beside it."""

    traces: Traces
    uses: Sequence[TopicUsage] = ()


def traces_of(
    topic: str, topic_id: str, partition_count: int, spans: Mapping[int, OffsetSpan], groups: GroupsView, brokers: int
) -> Traces:
    """Return traces of use. `brokers`: how many there are, each the coordinator of some groups."""
    ends = tuple(spans[index].next if index in spans else None for index in range(partition_count))
    places = {name: sum(of_group.values()) for name, of_group in groups.committed_in(topic).items()}
    active = frozenset(
        group.group_id
        for group in groups.groups
        if any(topic == place[0] for m in group.members for place in m.assigned)
    )
    undescribed = sum(not group.is_understood for group in groups.groups)
    return Traces(topic_id, ends, places, active, max(0, brokers - len(groups.answered)) + undescribed)


def later_plan(
    topics: Sequence[DoomedTopic], traces: Mapping[str, Traces], due: datetime, bootstrap_servers: str, obstacle: str
) -> Plan:
    """Plan a later deletion of one or many topics.

    Losses are shown now; the due time moves while the plan is read, and is shown.
    """
    at_once = deletion_plan(topics[0], bootstrap_servers) if len(topics) == 1 else None
    plan = at_once or deletion_of_many(topics, bootstrap_servers)
    text = f"deleted at {minute(due)}"
    return Plan(
        action=LATER if at_once else MANY_LATER,
        object_type=plan.object_type,
        object_name=plan.object_name,
        lines=tuple(PlanLine(topic.name, None, text, is_told=True) for topic in topics),
        read=(*plan.read, f"grace={GRACE}"),
        touches=(*_meanwhile(topics, traces, due), *plan.touches),
        losses=plan.losses,
        safe_because="",
        undo="call it off before then: nothing has happened to it.",
        about=plan.about,
        obstacle=obstacle or plan.obstacle or next(_impossible(topics, traces), ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOffPlan(Plan):
    topics: tuple[str, ...]


def call_off_plan(planned: Mapping[str, str], facts: Iterable[str], obstacle: str = "") -> CallOffPlan:
    """Plan that deletions are called off. `planned`: by topic its planned end; `facts` name each planned deletion."""
    names = sorted(planned)
    return CallOffPlan(
        topics=tuple(names),
        action=CALL_OFF,
        object_type="topic" if len(names) == 1 else "topics",
        object_name=names[0] if len(names) == 1 else counted(len(names)),
        lines=tuple(PlanLine(name, planned[name], None, is_told=True) for name in names),
        read=tuple(facts),
        losses=(),
        safe_because="The topic stays.",
        undo="plan the deletion again; its day starts again, too.",
        about=tuple(names) if len(names) > 1 else (),
        obstacle=obstacle,
    )


def why_kept(then: Traces, now: DeletionFacts) -> Iterator[str]:
    """Yield a sentence for each change since the plan, or obstacle now, without names of groups."""
    if then.topic_id != now.traces.topic_id:
        yield "It is another topic of that name: the one that was to go is gone."
        return
    if len(then.ends) != len(now.traces.ends):
        yield f"It has {len(now.traces.ends)} partitions now, and had {len(then.ends)}."
    pairs = [(old, new) for old, new in zip(then.ends, now.traces.ends, strict=False) if old is not None]
    added = now.traces.ends[len(then.ends) :]
    written = sum(max(0, (new or 0) - old) for old, new in pairs) + sum(new or 0 for new in added)
    if written:
        yield f"{grouped(written)} record{' was' if written == 1 else 's were'} written to it since."
    if any(new is not None and new < old for old, new in pairs):
        yield "A partition ends before where it ended then."
    read = {item for item, place in now.traces.places.items() if then.places.get(item) != place} - now.traces.active
    if read:
        yield f"{_groups(read)} read it since."
    if now.traces.active:
        yield f"{_groups(now.traces.active)} members that read it."
    if running := sum(use.runs for use in now.uses):
        yield f"Streams, connectors or mirrors that are running use it ({running})."


def _meanwhile(topics: Sequence[DoomedTopic], traces: Mapping[str, Traces], due: datetime) -> Iterator[str]:
    it, are = ("it", "is") if len(topics) == 1 else ("they", "are")
    stays, retention = ("stays", "its retention goes") if len(topics) == 1 else ("stay", "their retention goes")
    yield (
        f"Nothing is deleted before {minute(due)}: {it} {stays} as {it} {are}, {retention} on, and "
        "the pages of the topic announce the deletion."
    )
    yield (
        "A topic is kept if by then it is another one, was written to or read by a group, or is still used; if rules "
        "of changes or read-only mode forbid it, or you may not delete it any more."
    )
    used = [topic.name for topic in topics if traces[topic.name].active or any(use.runs for use in topic.uses)]
    if used and len(topics) == 1:
        yield "It is in use now, and is kept if that stays so."
    elif used:
        more = f" and {len(used) - 5} more" if len(used) > 5 else ""
        yield f"In use now, and kept if that stays so: {', '.join(used[:5])}{more}."
    yield _UNSEEN


def _impossible(topics: Sequence[DoomedTopic], traces: Mapping[str, Traces]) -> Iterator[str]:
    for topic in topics:
        of_it = traces[topic.name]
        if topic.is_internal:
            yield f"{topic.name} is Kafka's own: the brokers write to it themselves, so it would always be kept."
        if not topic.topic_id:
            yield (
                f"This cluster gives {topic.name} no id, so in a day the console could not tell it from a "
                f"recreated topic: it can only be deleted now."
            )
        if len(of_it.places) > GROUPS_MAX:
            yield f"More than {GROUPS_MAX} groups have a place in {topic.name}: it can only be deleted now."
        if of_it.unknown:
            yield f"{topic.name}: {of_it.unknown} Try again in a moment."


def _groups(names: Iterable[str]) -> str:
    count = len(set(names))
    return f"{count} consumer group{' has' if count == 1 else 's have'}"
