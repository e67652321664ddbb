"""Topics that a consumer reads by a pattern of Java's."""

from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaException

from broker.cli.clients.matching_topics import TopicPatternSubscription
from broker.cli.frame.answers import pattern


class ListedConsumer:
    """As much of a consumer as lists topics and subscribes."""

    def __init__(self, *topics: str):
        self.topics, self.subscriptions, self.is_away = set(topics), [], False

    def list_topics(self, timeout: float) -> SimpleNamespace:
        if self.is_away:
            raise KafkaException("no broker")
        return SimpleNamespace(topics=dict.fromkeys(self.topics))

    def subscribe(self, names: list[str]) -> None:
        self.subscriptions.append(names)


@pytest.fixture
def now():
    return [0.0]


def following(consumer: ListedConsumer, text: str, now: list[float], **options: bool) -> TopicPatternSubscription:
    return TopicPatternSubscription(consumer, pattern(text), now_s=lambda: now[0], **options)


def test_names_are_matched_as_java_matches_them(now):
    consumer = ListedConsumer("orders", "orders-1", "Ünder", "x")
    following(consumer, r"\p{IsAlphabetic}++", now).follow()
    assert consumer.subscriptions == [["orders", "x", "Ünder"]]


def test_kafkas_own_topics_are_left_out_unless_they_are_wanted(now):
    consumer = ListedConsumer("__consumer_offsets", "__transaction_state", "a")
    following(consumer, ".*", now).follow()
    following(consumer, ".*", now, with_internal=True).follow()
    assert consumer.subscriptions == [["a"], ["__consumer_offsets", "__transaction_state", "a"]]


def test_topics_that_come_and_go_are_followed_at_the_next_listing(now):
    consumer = ListedConsumer("a1")
    topics = following(consumer, r"a\d", now)
    topics.follow()
    consumer.topics.add("a2")
    topics.follow()
    assert consumer.subscriptions == [["a1"]]
    now[0] += 6
    topics.follow()
    topics.follow()
    assert consumer.subscriptions == [["a1"], ["a1", "a2"]]


def test_without_an_answer_or_a_match_it_looks_again_soon_and_reads_on(now):
    consumer = ListedConsumer()
    topics = following(consumer, "a", now)
    topics.follow()
    consumer.topics.add("a")
    now[0] += 2
    topics.follow()
    consumer.is_away = True
    now[0] += 10
    topics.follow()
    assert consumer.subscriptions == [["a"]]
