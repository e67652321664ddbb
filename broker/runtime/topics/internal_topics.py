"""The topics that brokers keep their coordinators' state in: names, and how they are created when first needed."""

from broker.config.broker import BrokerConfig
from broker.runtime.topics.topic_placement import NewTopic

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTION_TOPIC})


def new_internal_topic(name: str, config: BrokerConfig) -> NewTopic:
    """An internal topic as the configuration wants it; compacted, whatever the defaults for topics are."""
    return _offsets_topic(config) if name == OFFSETS_TOPIC else _transaction_topic(config)


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
