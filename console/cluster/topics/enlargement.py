"""More partitions for a topic as a plan. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from console.kit.gateway.commands import shell_command
from console.kit.plans.plan import Plan, PlanLine
from console.state.clusters.models import Topic

ACTION = "add partitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnlargementPlan(Plan):
    partition_count: int


_ORDER_LOST = (
    "Records with a key may go to another partition than those of the same key before: a consumer that relies on the "
    "order of a key's records sees it broken once, and partitions cannot be taken away again."
)


def enlargement_plan(topic: Topic, partition_count: int, group_count: int, bootstrap_servers: str) -> EnlargementPlan:
    """Plan more partitions. `partition_count` is the new total; `group_count` groups read the topic."""
    return EnlargementPlan(
        partition_count=partition_count,
        action=ACTION,
        object_type="topic",
        object_name=topic.name,
        lines=(PlanLine("partition_count", topic.partition_count, partition_count),),
        read=(topic.topic_id, f"partitions={topic.partition_count}", f"then={partition_count}"),
        touches=tuple(_touches(topic, partition_count, group_count)),
        losses=(_ORDER_LOST,),
        safe_because="",
        command=shell_command(
            "kafka-topics", bootstrap_servers, {"alter": True, "topic": topic.name, "partitions": partition_count}
        ),
        obstacle=_obstacle(topic, partition_count),
    )


def _touches(topic: Topic, partition_count: int, group_count: int) -> Iterable[str]:
    added = partition_count - topic.partition_count
    replicas = added * topic.replication_factor
    copies = f"{replicas} replica{'' if replicas == 1 else 's'}"
    yield f"It adds {added} partition{'' if added == 1 else 's'}, {copies} in all."
    if "compact" in topic.cleanup_policy:
        yield "Compaction works within a partition: the old value of a key stays beside the new one in another."
    if group_count:
        yield f"Partitions are reassigned to members in {group_count} group{'' if group_count == 1 else 's'}."
    yield "A consumer without a group, or one that starts at the latest record, may miss the first of a new partition."


def _obstacle(topic: Topic, partition_count: int) -> str:
    if topic.is_internal:
        return "Kafka finds groups and transactions by the number of this topic's partitions: it must not change."
    if partition_count <= topic.partition_count:
        return f"It has {topic.partition_count} partitions, and partitions are never taken away."
    return ""
