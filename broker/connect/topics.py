"""The topics a worker writes to exist before its first record."""

from threading import Event

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from broker.common.logs import logger

#: Short, because the worker does not stop while it waits for this answer.
METADATA_TIMEOUT_S = 1.5
CREATE_TIMEOUT_S = 5.0
RETRY_PAUSE_S = 1.0

_log = logger("broker.connect")


def ensure_topic(admin: AdminClient, topic: str, partitions: int, stop: Event) -> None:
    """Create the topic, with as many replicas as the cluster's default says, unless it is there.

    Tries until it succeeds or `stop` is set.

    A cluster that does not let clients create topics is left to create it when the first record comes.
    """
    while not stop.is_set():
        try:
            if topic in admin.list_topics(timeout=METADATA_TIMEOUT_S).topics:
                return
            admin.create_topics([NewTopic(topic, partitions)], request_timeout=CREATE_TIMEOUT_S)[topic].result()
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.TOPIC_ALREADY_EXISTS:
                return
            if code in (KafkaError._UNSUPPORTED_FEATURE, KafkaError.TOPIC_AUTHORIZATION_FAILED):
                _log.warning("topic not created", topic=topic, reason=error.args[0].str())
                return
            _log.warning("topic not created yet", topic=topic, reason=error.args[0].str())
            stop.wait(RETRY_PAUSE_S)
        else:
            _log.info("topic created", topic=topic, partitions=partitions)
            return
