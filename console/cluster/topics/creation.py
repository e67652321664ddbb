"""Creating a topic as a plan. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from console.cluster.topics.settings_plan import with_cautions
from console.kit.gateway.commands import shell_command
from console.kit.plans.plan import Plan, PlanLine
from console.kit.plans.setting import SettingTarget

CREATE = "create topic"


@dataclass(frozen=True, slots=True)
class Wish:
    """The topic that is to be; `configs`: the settings of its own."""

    name: str
    partition_count: int
    replication_factor: int
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationPlan(Plan):
    wish: Wish


def creation_plan(wish: Wish, brokers: Sequence[int], bootstrap_servers: str) -> CreationPlan:
    """Plan a topic's creation. `brokers` are the registered ones; none: the cluster was never read."""
    replicas = wish.partition_count * wish.replication_factor
    settings = sorted(wish.configs.items())
    target = SettingTarget("topic", wish.name, "the topic", {})
    for name, value in settings:
        target = with_cautions(target, name, value, wish.replication_factor)
    return CreationPlan(
        wish=wish,
        action=CREATE,
        object_type="topic",
        object_name=wish.name,
        lines=(
            PlanLine("partition_count", None, wish.partition_count),
            PlanLine("replication_factor", None, wish.replication_factor),
            *(PlanLine(name, None, value) for name, value in settings),
        ),
        read=(
            f"name={wish.name}",
            f"partitions={wish.partition_count}",
            f"factor={wish.replication_factor}",
            f"brokers={brokers}",
        ),
        touches=(
            _spread(replicas, len(brokers)),
            *_warnings(wish.replication_factor),
            *target.touches,
            *target.losses,
        ),
        losses=(),
        safe_because="" if target.losses or target.touches else "Nothing of this name is there.",
        undo="it is deleted again, as long as nothing was written to it.",
        command=shell_command(
            "kafka-topics",
            bootstrap_servers,
            {
                "create": True,
                "topic": wish.name,
                "partitions": wish.partition_count,
                "replication-factor": wish.replication_factor,
                "config": [f"{name}={value}" for name, value in settings] or None,
            },
        ),
        obstacle=_obstacle(wish.replication_factor, len(brokers)),
    )


def _spread(replicas: int, broker_count: int) -> str:
    """Return `It adds 9 replicas, about 3 on each of 3 brokers.`"""
    added = f"It adds {replicas:,} replica{'' if replicas == 1 else 's'}"
    if not broker_count:
        return f"{added}."
    return f"{added}, about {max(1, round(replicas / broker_count)):,} on each of {broker_count} brokers."


def _warnings(replication_factor: int) -> tuple[str, ...]:
    if replication_factor > 1:
        return ()
    return ("With one copy of each partition, its records are lost with the disk of their broker.",)


def _obstacle(replication_factor: int, broker_count: int) -> str:
    if not broker_count or replication_factor <= broker_count:
        return ""
    return f"{replication_factor} copies of a partition need as many brokers; {broker_count} are registered."
