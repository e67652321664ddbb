"""The loop that the examples' consumers share."""

from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from broker.examples.reading import read


def message(error=None):
    return SimpleNamespace(error=lambda: error)


def consumer(*messages):
    waiting = list(messages)
    return SimpleNamespace(poll=lambda _timeout: waiting.pop(0))


def test_a_topic_that_does_not_exist_yet_is_waited_for_and_told_once(capsys):
    missing, record = message(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)), message()
    assert list(read(consumer(missing, None, missing, record), 1)) == [record]
    assert capsys.readouterr().err.count("Waiting for the topic.") == 1


def test_what_a_consumer_cannot_get_over_is_raised():
    with pytest.raises(KafkaException):
        list(read(consumer(message(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))), 1))
