"""What the target's topics must become so that the source's fit into them: partitions, rights. Pure.

Decided without asking anybody; `topic_keeper` does it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from broker.mirror.naming import NAME_LENGTH_MAX

#: What a topic has by its cluster, not by its content (Kafka's default of config.properties.exclude).
SETTINGS_EXCLUDED = (
    r"follower\.replication\.throttled\.replicas",
    r"leader\.replication\.throttled\.replicas",
    r"message\.timestamp\.difference\.max\.ms",
    r"message\.timestamp\.type",
    r"unclean\.leader\.election\.enable",
    r"min\.insync\.replicas",
)


@dataclass(frozen=True)
class MirrorTopicChanges:
    """`create`, `grow`: topic of the target → partitions. `refused`: topic of the source → why it is not copied."""

    create: dict[str, int]
    grow: dict[str, int]
    refused: dict[str, str]


def decide(names: Mapping[str, str], source: Mapping[str, int], target: Mapping[str, int]) -> MirrorTopicChanges:
    """Decide changes of topics. `names`: topic → its copy; the others: topic → partitions. A copy never gets fewer
    partitions.
    """
    changes = MirrorTopicChanges({}, {}, {})
    for topic, copy in names.items():
        wanted, there = source[topic], target.get(copy)
        if len(copy) > NAME_LENGTH_MAX:
            changes.refused[topic] = f"its copy's name would have {len(copy)} characters, more than {NAME_LENGTH_MAX}"
        elif there is None:
            changes.create[copy] = wanted
        elif there < wanted:
            changes.grow[copy] = wanted
    return changes


class TopicAcl(NamedTuple):
    """An ACL of one topic, in Kafka's words."""

    topic: str
    principal: str
    host: str
    operation: str
    permission: str


def rules_to_make(source: Iterable[TopicAcl], target: Collection[TopicAcl], names: Mapping[str, str]) -> list[TopicAcl]:
    """Return the ACLs to create, as Kafka's mirror does: ALLOW WRITE is skipped, since only the mirror writes a copy;
    ALLOW ALL becomes READ. None is removed.
    """
    acls = []
    for rule in source:
        if rule.topic not in names or (rule.permission == "ALLOW" and rule.operation == "WRITE"):
            continue
        operation = "READ" if (rule.permission, rule.operation) == ("ALLOW", "ALL") else rule.operation
        copied = rule._replace(topic=names[rule.topic], operation=operation)
        if copied not in target and copied not in acls:
            acls.append(copied)
    return acls
