"""Why a cluster said no, in a sentence for the person who asked."""

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError

from broker.client.errors import ApiNotServed, BrokerUnreachable, UnreadableAnswer
from broker.common.errors import ApiError, BarnabasError, ErrorCode


class GatewayError(Exception):
    """The cluster could not do what was asked; `str(error)` is the sentence to show."""


class ClusterUnreachableError(GatewayError):
    """No broker answered in time, or what can be read. Nothing is known about what was asked."""


#: How the sentences begin of a console that is not let in; waiting does not mend it.
REFUSED = "The cluster does not let the console in:"
UNUSABLE = "The console's client configuration cannot be used:"
#: And of another cluster at the address of the one that is meant.
OTHER = "Another cluster answers:"


class ClientRefusedError(ClusterUnreachableError):
    """The cluster refuses the console's login, or the console refuses the cluster."""


class OtherClusterError(ClusterUnreachableError):
    """Nothing is asked of it, and nothing done to it."""


def is_refusal(sentence: str) -> bool:
    """Return whether a stored sentence is one of those."""
    return sentence.startswith((REFUSED, UNUSABLE))


class RefusedError(GatewayError):
    """The cluster answered no: `code` is Kafka's name of the error, such as TOPIC_ALREADY_EXISTS."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


#: Of what is told about an answer.
_WHY_LENGTH_MAX = 500
#: librdkafka's own codes (below zero) for "nobody answered".
_UNREACHABLE = {
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._DESTROY,
}


def error_from_kafka(error: KafkaError) -> GatewayError:
    """Return the broker's own sentence if it sent one, else the meaning of the code in our table."""
    if error.code() in _UNREACHABLE:
        return ClusterUnreachableError("No broker answered in time.")
    return refusal(error.code(), error.str())


def unanswered(error: BrokerUnreachable | None = None) -> ClusterUnreachableError:
    """Return the error of our own client without the addresses it tried."""
    if isinstance(error, UnreadableAnswer):
        return unreadable(error)
    return ClusterUnreachableError("No broker answered in time.")


def unreadable(error: BarnabasError) -> ClusterUnreachableError:
    return ClusterUnreachableError(f"No broker gave an answer that can be read: {str(error)[:_WHY_LENGTH_MAX]}.")


def refusal(code: int, sentence: str = "") -> RefusedError:
    """Return the refusal. `sentence` is kept unless it only repeats the library's generic text, which starts with
    "Broker:".
    """
    try:
        known = ErrorCode(code)
    except ValueError:
        return RefusedError(f"ERROR_{code}", sentence or f"The cluster answered with error {code}.")
    is_generic = not sentence or sentence.startswith("Broker: ")
    return RefusedError(known.name, known.meaning if is_generic else sentence)


@contextmanager
def as_gateway_errors() -> Iterator[None]:
    """Turn errors of our own client into the gateway's."""
    try:
        yield
    except ApiError as error:
        raise refusal(error.code, error.message or "") from error
    except BrokerUnreachable as error:
        raise unanswered(error) from error
    except ApiNotServed as error:
        raise GatewayError("These brokers are of a kind or version that does not support this.") from error
    except BarnabasError as error:
        raise GatewayError(str(error)) from error
