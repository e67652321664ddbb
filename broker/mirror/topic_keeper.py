"""Brings the target's topics to where they should be, over both clusters' admin clients."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from broker.common.logs import logger
from broker.mirror.records import TOPIC
from broker.mirror.status import STATUS_TOPIC
from broker.mirror.topics import MirrorTopicChanges, TopicAcl

_log = logger("broker.mirror")
_TIMEOUT_S = 30.0
OWN_TOPICS = (TOPIC, STATUS_TOPIC)
#: Of one request: brokers bound what one may ask for.
_AT_ONCE = 500
T = TypeVar("T")


def batched(things: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(things)
    while some := list(islice(remaining, _AT_ONCE)):
        yield some


def _failures(futures: Mapping[str, Any]) -> dict[str, KafkaError]:
    failed: dict[str, KafkaError] = {}
    for topic, future in futures.items():
        try:
            future.result(_TIMEOUT_S)
            _log.info("topic of the target follows the source", topic=topic)
        except KafkaException as error:
            failed[topic] = error.args[0]
    return failed


class TopicKeeper:
    """Creates and updates topics of the target. Each call asks both clusters again and raises KafkaException when one
    does not answer.
    """

    def __init__(self, source: AdminClient, target: AdminClient, replication_factor: int):
        self._source, self._target = source, target
        self._replicas = replication_factor

    def ensure_own(self) -> None:
        """Create the mirrors' own topics, compacted: with another policy they would forget positions after a week."""
        there = self._target.list_topics(timeout=_TIMEOUT_S).topics
        config = {"cleanup.policy": "compact", "segment.bytes": str(16 << 20)}
        new = [NewTopic(topic, 1, self._replicas, config=config) for topic in OWN_TOPICS if topic not in there]
        for future in self._target.create_topics(new).values() if new else ():
            try:
                future.result(_TIMEOUT_S)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise

    def is_one_cluster(self) -> bool:
        """Return whether source and target are the same, whatever they are called."""
        source, target = (client.list_topics(timeout=_TIMEOUT_S).cluster_id for client in (self._source, self._target))
        return source is not None and source == target

    def topics(self, *, of_source: bool) -> dict[str, int]:
        """Return the topics that exist, with their number of partitions."""
        admin = self._source if of_source else self._target
        listed = admin.list_topics(timeout=_TIMEOUT_S).topics
        return {name: len(item.partitions) for name, item in listed.items() if item.partitions}

    def apply(self, changes: MirrorTopicChanges, settings: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
        """Apply changes with the `settings` of new copies; one whose settings are refused is created without them.
        Return failures: topic of the target → why.
        """
        failed = self._create(changes.create, settings)
        refused = [copy for copy, error in failed.items() if error.code() == KafkaError.INVALID_CONFIG]
        failed = {copy: error for copy, error in failed.items() if copy not in refused}
        failed |= self._create({copy: changes.create[copy] for copy in refused}, {})
        futures: dict[str, Any] = {}
        for partitions in batched(NewPartitions(copy, count) for copy, count in changes.grow.items()):
            futures |= self._target.create_partitions(partitions)
        return {copy: error.str() for copy, error in (failed | _failures(futures)).items()}

    def _create(self, counts: Mapping[str, int], settings: Mapping[str, Mapping[str, str]]) -> dict[str, KafkaError]:
        futures: dict[str, Any] = {}
        for copies in batched(counts):
            new = [NewTopic(copy, counts[copy], self._replicas, config=dict(settings.get(copy, {}))) for copy in copies]
            futures |= self._target.create_topics(new)
        return _failures(futures)

    def settings(self, topics: Collection[str], *, of_source: bool) -> dict[str, dict[str, str]]:
        """Return the settings of each topic itself, as far as they may be read."""
        admin = self._source if of_source else self._target
        own = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        settings: dict[str, dict[str, str]] = {}
        for some in batched(topics):
            resources = [ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in some]
            for resource, future in admin.describe_configs(resources).items():
                with suppress(KafkaException):
                    entries = future.result(_TIMEOUT_S).items()
                    settings[resource.name] = {name: entry.value for name, entry in entries if entry.source == own}
        return settings

    def change_settings(self, changes: Mapping[str, Mapping[str, str | None]]) -> dict[str, str]:
        """Change settings, and return what the target refuses: topic → why."""
        resources = [
            ConfigResource(
                ConfigResource.Type.TOPIC,
                topic,
                incremental_configs=[
                    ConfigEntry(
                        name,
                        value or "",
                        incremental_operation=AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET,
                    )
                    for name, value in changed.items()
                ],
            )
            for topic, changed in changes.items()
            if changed
        ]
        futures: dict[str, Any] = {}
        for some in batched(resources):
            altered = self._target.incremental_alter_configs(some)
            futures |= {resource.name: future for resource, future in altered.items()}
        return {topic: error.str() for topic, error in _failures(futures).items()}

    def rules(self, *, of_source: bool) -> list[TopicAcl] | None:
        """Return the ACLs of literal topic names; None without an authorizer."""
        everybody: Any = None
        every = AclBindingFilter(
            ResourceType.TOPIC,
            everybody,
            ResourcePatternType.LITERAL,
            everybody,
            everybody,
            AclOperation.ANY,
            AclPermissionType.ANY,
        )
        admin = self._source if of_source else self._target
        try:
            acls = admin.describe_acls(every).result(_TIMEOUT_S)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.SECURITY_DISABLED:
                return None
            raise
        return [
            TopicAcl(rule.name, rule.principal, rule.host, rule.operation.name, rule.permission_type.name)
            for rule in acls
        ]

    def make_rules(self, rules: Iterable[TopicAcl]) -> None:
        """Raises KafkaException when the mirror may not."""
        bindings = [
            AclBinding(
                ResourceType.TOPIC, rule.topic, ResourcePatternType.LITERAL, rule.principal, rule.host,
                AclOperation[rule.operation], AclPermissionType[rule.permission],
            )
            for rule in rules
        ]  # fmt: skip
        for future in self._target.create_acls(bindings).values() if bindings else ():
            future.result(_TIMEOUT_S)
