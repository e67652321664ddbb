"""Topics of a source that are not there yet are made before its first record, by the connector's rules."""

import time
from collections.abc import Mapping
from threading import Event
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from broker.common.bounded_patterns import TooManyWays
from broker.common.logs import logger
from broker.common.quiet_clients import with_quiet_logging
from broker.connect.api import ConnectError
from broker.connect.tasks.retriable import ClusterUnavailable, failure_of
from broker.connect.tasks.topic_creation import NewTopicRule, TopicRules

_TIMEOUT_S = 30.0
_PAUSE_S = 0.5
#: As long as brokers may take to come back before too few of them for the topic's replicas are a wrong configuration.
_BROKERS_BACK_S = 300.0
_LEFT_TO_BROKERS = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError._UNSUPPORTED_FEATURE,
}
_log = logger("broker.connect")


class NewTopics:
    def __init__(self, rules: TopicRules, client: Mapping[str, Any], stopping: Event):
        self._rules = rules
        self._client = dict(client)
        self._stopping = stopping

    def ensure(self, topic: str) -> None:
        """Create the topic if it is missing, unless brokers do that. Raises ConnectError, ClusterUnavailable."""
        try:
            rule = self._rules.rule_of(topic)
        except TooManyWays as error:
            raise ConnectError(f"Topic {topic} could not be made: {error}") from None
        admin = AdminClient(with_quiet_logging(self._client))
        began_s = time.monotonic()
        while not self._stopping.is_set():
            try:
                if topic not in admin.list_topics(timeout=_TIMEOUT_S).topics:
                    admin.create_topics([_new(topic, rule)])[topic].result(_TIMEOUT_S)
                    _log.info("topic created", topic=topic, partitions=rule.partitions)
                return
            except KafkaException as error:
                code = error.args[0].code()
                if code == KafkaError.TOPIC_ALREADY_EXISTS:
                    return
                if code in _LEFT_TO_BROKERS:
                    _log.warning("topic not created", topic=topic, reason=error.args[0].str())
                    return
                is_short_of_brokers = code == KafkaError.INVALID_REPLICATION_FACTOR
                if not is_short_of_brokers or time.monotonic() - began_s > _BROKERS_BACK_S:
                    raise failure_of(f"Topic {topic} could not be made", error.args[0]) from None
                self._stopping.wait(_PAUSE_S)
            except TimeoutError:
                raise ClusterUnavailable(f"Topic {topic} could not be made in {_TIMEOUT_S:g} s") from None


def _new(topic: str, rule: NewTopicRule) -> Any:
    return NewTopic(topic, rule.partitions, rule.replicas, config=rule.config)
