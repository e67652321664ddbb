"""The topics that brokers keep their coordinators' state in: names, and how they are created when first needed.

They are compacted, whatever is set for them: by age, committed offsets and the states of transactions would be deleted
although they count. Whoever creates or changes such a topic is refused another `cleanup.policy`, and what a tool has
written into ZooKeeper past that does not count.
"""

from collections.abc import Mapping
from dataclasses import replace

from broker.config.broker import BrokerConfig
from broker.config.definition import ConfigError
from broker.runtime.topics.topic_placement import USE_DEFAULT, NewTopic

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTION_TOPIC})
_POLICY, _COMPACT, _MIN_ISR = "cleanup.policy", "compact", "min.insync.replicas"


def new_internal_topic(name: str, config: BrokerConfig) -> NewTopic:
    """Return an internal topic as configured; compacted, whatever the topics' default is."""
    return _offsets_topic(config) if name == OFFSETS_TOPIC else _transaction_topic(config)


def with_internal_defaults(topic: NewTopic, config: BrokerConfig) -> NewTopic:
    """Return an internal topic that somebody creates, what is left open as the broker would have it; any other topic as
    it is. Raises ConfigError."""
    if topic.name not in INTERNAL_TOPICS:
        return topic
    own = new_internal_topic(topic.name, config)
    if not topic.assignment:
        partitions = own.partitions if topic.partitions == USE_DEFAULT else topic.partitions
        is_open = topic.replication_factor == USE_DEFAULT
        factor = own.replication_factor if is_open else topic.replication_factor
        topic = replace(topic, partitions=partitions, replication_factor=factor)
    replicas = min(map(len, topic.assignment.values()), default=topic.replication_factor)
    configs = {**own.configs, **topic.configs}
    if _MIN_ISR not in topic.configs and int(configs.get(_MIN_ISR, "1")) > replicas:
        del configs[_MIN_ISR]  # nothing could be written
    require_compacted(topic.name, {}, configs)
    return replace(topic, configs=configs)


def require_compacted(name: str, present: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Raise ConfigError if `wanted` takes compaction from an internal topic for which `present` is set."""
    policy = wanted.get(_POLICY)
    if name in INTERNAL_TOPICS and policy != present.get(_POLICY) and (policy or "").strip() != _COMPACT:
        kept = "committed offsets" if name == OFFSETS_TOPIC else "states of transactions"
        raise ConfigError(f"{name} keeps {kept}, which must not be deleted by age; leave {_POLICY}={_COMPACT} set")


def compacted(name: str, overrides: Mapping[str, str]) -> Mapping[str, str]:
    """Return the overrides of a topic as its logs go by them: an internal topic is compacted."""
    return {**overrides, _POLICY: _COMPACT} if name in INTERNAL_TOPICS else overrides


#: Those keys of each that say how safe it is.
_SAFETY_KEYS = {
    OFFSETS_TOPIC: ("offsets.topic.replication.factor",),
    TRANSACTION_TOPIC: ("transaction.state.log.replication.factor", "transaction.state.log.min.isr"),
}


def replicas_asked_for(name: str, config: BrokerConfig) -> int:
    return new_internal_topic(name, config).replication_factor


def for_lone_broker(topic: NewTopic, config: BrokerConfig) -> NewTopic | None:
    """Return an internal topic as one broker can hold it; None where the configuration itself asks for more replicas.

    Nobody chose the defaults: they are for clusters, and a broker alone would serve no group under them.
    """
    if any(key in config.given for key in _SAFETY_KEYS[topic.name]):
        return None
    configs = topic.configs
    if "min.insync.replicas" in configs:
        configs = {**configs, "min.insync.replicas": "1"}
    return replace(topic, replication_factor=1, configs=configs)


def _offsets_topic(config: BrokerConfig) -> NewTopic:
    return NewTopic(
        OFFSETS_TOPIC,
        config.offsets_topic_num_partitions,
        config.offsets_topic_replication_factor,
        configs={
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(config.offsets_topic_segment_bytes),
        },
    )


def _transaction_topic(config: BrokerConfig) -> NewTopic:
    return NewTopic(
        TRANSACTION_TOPIC,
        config.transaction_state_log_num_partitions,
        config.transaction_state_log_replication_factor,
        configs={
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": str(config.transaction_state_log_min_isr),
            "segment.bytes": str(config.transaction_state_log_segment_bytes),
            "unclean.leader.election.enable": "false",
        },
    )
