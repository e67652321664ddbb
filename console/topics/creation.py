"""Creating a topic as a plan. Pure."""

from collections.abc import Sequence

from console.gateway.commands import shell_command
from console.plans.plan import Line, Plan

CREATE = "create topic"


def creation_plan(
    name: str, partition_count: int, replication_factor: int, brokers: Sequence[int], bootstrap_servers: str
) -> Plan:
    """`brokers` are the registered ones; none: nobody has seen the cluster, and it has the last word alone."""
    replicas = partition_count * replication_factor
    return Plan(
        action=CREATE,
        object_type="topic",
        object_name=name,
        lines=(Line("partition_count", None, partition_count), Line("replication_factor", None, replication_factor)),
        read=(f"name={name}", f"partitions={partition_count}", f"factor={replication_factor}", f"brokers={brokers}"),
        touches=(_spread(replicas, len(brokers)), *_warnings(replication_factor)),
        undo="it is deleted again, as long as nothing was written to it.",
        command=shell_command(
            "kafka-topics",
            bootstrap_servers,
            {
                "create": True,
                "topic": name,
                "partitions": partition_count,
                "replication-factor": replication_factor,
            },
        ),
        obstacle=_obstacle(replication_factor, len(brokers)),
    )


def _spread(replicas: int, broker_count: int) -> str:
    """`It adds 9 replicas, about 3 on each of 3 brokers.`"""
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
