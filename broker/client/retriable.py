"""Which errors of librdkafka's clients pass when the cluster is back: what Kafka's clients call retriable. Pure.

Kafka's clients try such a request again by themselves; librdkafka hands some of them to its user. An error about the
request itself (no authorization, a record too large, a fenced producer) is never one.
"""

from confluent_kafka import KafkaError

from broker.common.errors import ErrorCode

#: Of librdkafka itself: no connection, no response in time, no metadata yet.
_LOCAL = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._ISR_INSUFF,
        KafkaError._MAX_POLL_EXCEEDED,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._NOENT,
        KafkaError._PREV_IN_PROGRESS,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._TRANSPORT,
        KafkaError._UNKNOWN_BROKER,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._WAIT_CACHE,
        KafkaError._WAIT_COORD,
    }
)
#: The group's coordinator has given the member up, or is about to: it joins again by itself.
_JOINS_AGAIN = frozenset(
    {KafkaError.ILLEGAL_GENERATION, KafkaError.REBALANCE_IN_PROGRESS, KafkaError.UNKNOWN_MEMBER_ID}
)
#: Without CORRUPT_MESSAGE: a damaged batch is as damaged at the next attempt.
RETRIABLE_CODES = frozenset(int(code) for code in ErrorCode if code.retriable) - {int(ErrorCode.CORRUPT_MESSAGE)}


def is_retriable_error(error: KafkaError) -> bool:
    """Return whether the client may succeed later with the same request. A fatal error of a client is never
    retriable.
    """
    code = error.code()
    return not error.fatal() and (code in _LOCAL or code in _JOINS_AGAIN or code in RETRIABLE_CODES)
