"""The topics that brokers keep their coordinators' state in: names, and how they are created when first needed."""

from dataclasses import replace

from broker.config.broker import BrokerConfig
from broker.runtime.topics.topic_placement import NewTopic

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTION_TOPIC})


def new_internal_topic(name: str, config: BrokerConfig) -> NewTopic:
    """An internal topic as the configuration wants it; compacted, whatever the defaults for topics are."""
    return _offsets_topic(config) if name == OFFSETS_TOPIC else _transaction_topic(config)


#: Those keys of each that say how safe it is.
_SAFETY_KEYS = {
    OFFSETS_TOPIC: ("offsets.topic.replication.factor",),
    TRANSACTION_TOPIC: ("transaction.state.log.replication.factor", "transaction.state.log.min.isr"),
}


def replicas_asked_for(name: str, config: BrokerConfig) -> int:
    return new_internal_topic(name, config).replication_factor


def for_lone_broker(topic: NewTopic, config: BrokerConfig) -> NewTopic | None:
    """An internal topic as one broker can hold it; None where the configuration itself asks for more than that.

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
