"""Settings of subscriptions to client metrics, in Kafka's words."""

import pytest

from broker.common.errors import ApiError
from broker.config.client_metrics import read_subscription


@pytest.mark.parametrize(
    ("name", "texts", "words"),
    [
        ("", {"metrics": "x"}, "Subscription name can't be empty"),
        ("a", {"metric": "x"}, "Unknown client metrics configuration: metric"),
        (
            "a",
            {"interval.ms": "99"},
            "Invalid value 99 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
        ),
        ("a", {"match": "client_id"}, "Illegal client matching pattern: client_id"),
        ("a", {"match": "client_name=a"}, "Illegal client matching pattern: client_name=a"),
        ("a", {"match": "client_id=("}, "Illegal client matching pattern: client_id=("),
        ("a", {"match": "client_id=a=b"}, "Illegal client matching pattern: client_id=a=b"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_kafkas_words(name, texts, words):
    with pytest.raises(ApiError) as refused:
        read_subscription(name, texts)
    assert refused.value.message == words


def test_a_client_matches_by_the_whole_of_each_attribute():
    subscription = read_subscription("a", {"match": "client_id=shop-[0-9]+,client_software_version=4[.].*"})
    assert subscription.matches({"client_id": "shop-1", "client_software_version": "4.4.0"})
    assert not subscription.matches({"client_id": "shop-1x", "client_software_version": "4.4.0"})
    assert not subscription.matches({"client_id": "shop-1"})
