"""Which failures of a connector or task end it (FAILED), and after which it begins again. Pure."""

from confluent_kafka import KafkaError, KafkaException

from broker.client.errors import BrokerUnreachable, UnreadableAnswer
from broker.client.retriable import RETRIABLE_CODES, is_retriable_error
from broker.common.errors import ApiError
from broker.connect.api import ConnectError, RetriableError
from broker.connect.storage.logs import StorageError


class ClusterUnavailable(RetriableError):
    """The brokers did not answer in time, or cannot do it at the moment; waiting mends it."""


def is_retriable(error: BaseException) -> bool:
    """Return whether a run that raised this may be followed by another one; causes of the error are not looked at."""
    if isinstance(error, KafkaException):
        return isinstance(error.args[0], KafkaError) and is_retriable_error(error.args[0])
    if isinstance(error, ApiError):
        return int(error.code) in RETRIABLE_CODES
    if isinstance(error, BrokerUnreachable):
        return not isinstance(error, UnreadableAnswer)
    return isinstance(error, RetriableError | StorageError)


def failure_of(sentence: str, error: KafkaError) -> ConnectError:
    """Return the exception of a task for an error of its client: `ClusterUnavailable` to retry, or a ConnectError that
    fails the task.
    """
    kind = ClusterUnavailable if is_retriable_error(error) else ConnectError
    return kind(f"{sentence}: {error.str()}")
