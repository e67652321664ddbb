"""Deleting a topic as a plan, and taking a creation back while nothing was lost by it. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from console.kit.common.figures import grouped, rate, size
from console.kit.gateway.commands import shell_command
from console.kit.gateway.records.interface import OffsetSpan
from console.kit.plans.plan import Plan, PlanLine
from console.processes.topic_users import TopicUsage, sentences

DELETE, UNDO_CREATION = "delete topic", "undo create topic"
#: What goes on changing while somebody looks at the plan.
_GROWING = ("record_count", "size_bytes")
#: Groups that are named one by one.
_GROUPS_NAMED = 5
#: What becomes of who uses it, behind `stream job clicks reads it`.
RUNNING = " and is running: stop it first, or it waits and fails without its topic."
AT_REST = "; it is not running, and fails without its topic when it is."


@dataclass(frozen=True, slots=True)
class DoomedTopic:
    """What is known of a topic that shall go. `record_count` is an upper bound where compaction leaves gaps."""

    name: str
    topic_id: str
    partition_count: int
    replication_factor: int
    record_count: int
    size_bytes: int
    records_per_second: float | None
    is_internal: bool
    #: Groups that have committed an offset in it; of those that the reader's rights do not reach the number of the row.
    groups: Sequence[str] = ()
    hidden_groups: Collection[int] = frozenset()
    #: What stream jobs, connectors and mirrors do with it.
    uses: Sequence[TopicUsage] = ()

    @property
    def hung_on(self) -> tuple[str, ...]:
        """What a confirmation covers of the topic's dependents."""
        hidden = (f"hidden groups={len(self.hidden_groups)}",) if self.hidden_groups else ()
        return (*sorted(self.groups), *hidden, *(use.confirmed for use in self.uses))


def deletion_plan(topic: DoomedTopic, bootstrap_servers: str) -> Plan:
    """Return the plan. Records and growth keep changing, so they are shown and not confirmed; readers are both."""
    return Plan(
        action=DELETE,
        object_type="topic",
        object_name=topic.name,
        lines=_lines(topic),
        read=(topic.topic_id, f"partitions={topic.partition_count}", *topic.hung_on),
        touches=tuple(_touches(topic)),
        losses=tuple(_losses(topic)),
        safe_because="",
        command=_command(topic.name, bootstrap_servers),
        typed_name=topic.name,
    )


def undo_creation_plan(topic: DoomedTopic, spans: Mapping[int, OffsetSpan], bootstrap_servers: str) -> Plan:
    """Plan the undo of a creation. `spans` are asked now: only a topic without any record is deleted without typing its
    name.
    """
    return Plan(
        action=UNDO_CREATION,
        object_type="topic",
        object_name=topic.name,
        lines=_lines(topic),
        read=(topic.topic_id, f"partitions={topic.partition_count}", *topic.hung_on),
        touches=("It is still empty: no record is lost.", *_touches(topic), *sentences(topic.uses, RUNNING, AT_REST)),
        losses=(),
        safe_because="It is still empty.",
        undo="create it again; it has another topic id then.",
        command=_command(topic.name, bootstrap_servers),
        obstacle=_not_empty(topic, spans),
    )


def _lines(topic: DoomedTopic) -> tuple[PlanLine, ...]:
    named = ("topic_id", "partition_count", "replication_factor", "record_count", "size_bytes")
    return tuple(PlanLine(name, getattr(topic, name), None, is_told=name in _GROWING) for name in named)


def _command(name: str, bootstrap_servers: str) -> str:
    return shell_command("kafka-topics", bootstrap_servers, {"delete": True, "topic": name})


def _losses(topic: DoomedTopic) -> Iterable[str]:
    yield _records_lost(topic)
    if count := len(topic.groups) + len(topic.hidden_groups):
        named = some_groups(topic.groups, len(topic.hidden_groups))
        yield f"{count} consumer group{' loses its' if count == 1 else 's lose their'} place: {named}."
    yield from sentences(topic.uses, RUNNING, AT_REST)
    if topic.is_internal:
        yield "This topic is Kafka's own. Without it groups lose their positions, or producers their transactions."


def _records_lost(topic: DoomedTopic) -> str:
    if not topic.record_count:
        return "No record was seen in it; what was written since is lost for good, and its own settings with it."
    records = f"{grouped(topic.record_count)} record{'' if topic.record_count == 1 else 's'}"
    partitions = f"{topic.partition_count} partition{'' if topic.partition_count == 1 else 's'}"
    volume = f"{size(topic.size_bytes)} on all replicas"
    return f"Up to {records} ({volume}) in {partitions} are lost for good, and its own settings with them."


def _touches(topic: DoomedTopic) -> Iterable[str]:
    if topic.records_per_second:
        yield (
            f"A producer is writing to it now: {rate(topic.records_per_second)} records per second. "
            "With auto.create.topics.enable the next request for it creates an empty topic of this name."
        )


def _not_empty(topic: DoomedTopic, spans: Mapping[int, OffsetSpan]) -> str:
    written = sum(span.next for span in spans.values())
    if written:
        return f"{grouped(written)} records were written to it since: it can only be deleted by typing its name."
    if len(spans) < topic.partition_count:
        return "Some partitions do not answer, so it may not be empty any more. Try again in a moment."
    return ""


def some_groups(names: Collection[str], hidden: int) -> str:
    """Return `a, b and 3 that your rights do not reach`."""
    more = len(names) - _GROUPS_NAMED
    parts = [", ".join(sorted(names)[:_GROUPS_NAMED])] if names else []
    parts += [f"{more} more"] if more > 0 else []
    parts += [f"{hidden} that your rights do not reach"] if hidden else []
    return " and ".join(parts)
