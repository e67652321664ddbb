"""A registry that cannot write says which internal topic of the brokers hinders it."""

from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from broker.registry import schema_log
from broker.registry.schema_log import SchemaWriter, WriteFailed, why_no_transactions

_TOPIC = "__transaction_state"


def partition(leader=1, isrs=(1, 2, 3)):
    return SimpleNamespace(leader=leader, isrs=list(isrs), replicas=[1, 2, 3])


def metadata(brokers, *partitions):
    topics = {_TOPIC: SimpleNamespace(partitions=dict(enumerate(partitions)))} if partitions else {}
    return SimpleNamespace(topics=topics, brokers=dict.fromkeys(range(1, brokers + 1)))


@pytest.fixture
def say_metadata(monkeypatch):
    """say_metadata(metadata or error): what the brokers say of their topics."""

    def say(answer):
        def list_topics(_self, timeout):
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(schema_log, "AdminClient", lambda _: SimpleNamespace(list_topics=list_topics.__get__(0)))

    return say


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (metadata(2), f"no topic {_TOPIC} yet and 2 brokers are alive"),
        (metadata(1, partition(-1), partition()), f"1 of 2 partitions of {_TOPIC} have no leader, and 1 broker is"),
        (metadata(2, partition(isrs=(1, 2))), f"1 of 1 partitions of {_TOPIC} lack in-sync replicas"),
        (KafkaException(KafkaError(KafkaError._TRANSPORT)), "no broker answers in time"),
    ],
)
def test_the_topic_that_lacks_replicas_is_named(say_metadata, answer, sentence):
    say_metadata(answer)
    assert sentence in why_no_transactions({})


def test_nothing_is_said_where_all_is_well(say_metadata):
    say_metadata(metadata(3, partition(), partition()))
    assert why_no_transactions({}) == ""


def test_a_log_of_schemas_that_cannot_be_opened_in_time_says_why(say_metadata, monkeypatch):
    say_metadata(metadata(2))

    def times_out(_timeout_s):
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "Timed out waiting for operation"))

    monkeypatch.setattr(schema_log, "Producer", lambda _: SimpleNamespace(init_transactions=times_out))
    with pytest.raises(WriteFailed, match=f"Timed out waiting for operation; there is no topic {_TOPIC} yet"):
        SchemaWriter({}, "_schemas", "registry").open(0.1)
