"""Results of confluent-kafka's admin client, which hands out futures."""

from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TypeVar

from confluent_kafka import KafkaException

from console.kit.gateway.errors import ClusterUnreachableError, error_from_kafka

T = TypeVar("T")


def wait_for(future: Future[T], timeout_seconds: float) -> T:
    """Return the result; raise GatewayError for a refusal, and for a result that never comes.

    The library's own timeout fires first, ours is for a future that it forgot.
    """
    try:
        return future.result(timeout_seconds + 0.5)
    except FutureTimeoutError as error:
        raise ClusterUnreachableError("No broker answered in time.") from error
    except KafkaException as error:
        raise error_from_kafka(error.args[0]) from error
