"""Rules are read and applied; what breaks one goes to the dead letters with the reason."""

import pytest

from broker.config.definition import ConfigError
from broker.spark.catalog import find_job
from broker.spark.config import read_settings
from tests.broker.spark.conftest import Row

SETTINGS = {"input.topic": "orders", "output.topic": "sound", "dead.letter.topic": "dead"}


@pytest.mark.long
@pytest.mark.spark
def test_unsound_records_go_to_the_dead_letters_with_every_reason(topics, written_by):
    sound = {"amount": 5, "kind": "card", "account": "DE12"}
    unsound = [sound | {"amount": -1}, sound | {"amount": "much"}, sound | {"kind": "cash", "account": "12"}, {}]
    topics.append(
        "orders", [Row("k", sound), *(Row("k", item) for item in unsound), Row("k", "no json"), Row("k", None)]
    )
    rules = "value is json; $.amount is number; $.amount >= 0; $.kind in card bank; $.account matches ^DE\\d+$"
    written = written_by("quality_filter", SETTINGS | {"rules": rules})
    assert [item.value for item in written if item.topic == "sound"] == [sound]
    dead = [item for item in written if item.topic == "dead"]
    assert [item.headers["barnabas.dead.reason"].decode() for item in dead] == [
        "$.amount >= 0",
        "$.amount is number; $.amount >= 0",
        "$.kind in card bank; $.account matches ^DE\\d+$",
        rules.partition("; ")[2],
        rules,
        rules,
    ]
    assert dead[0].headers["barnabas.dead.record"] == b"orders-0-1"
    assert dead[-2].value == "no json"


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize(
    ("rule", "amount", "is_sound"),
    [
        ("$.n > 5", 5, False),
        ("$.n <= 5", 5, True),
        ("$.n != 5", 5, False),
        ("$.n = five", "five", True),
        ("$.n < 5", "five", False),
    ],
)
def test_comparison_holds_or_not(topics, written_by, rule, amount, is_sound):
    topics.append("orders", [Row("k", {"n": amount})])
    (written,) = written_by("quality_filter", SETTINGS | {"rules": rule})
    assert (written.topic == "sound") is is_sound


@pytest.mark.parametrize("rules", ["", ";", "$.a", "$.a is odd", "$.a > b", "a > 1", "$.a matches (", "1=1 OR $.a"])
def test_rule_that_is_none_is_refused(rules):
    with pytest.raises(ConfigError, match="rules"):
        read_settings(find_job("quality_filter", None), SETTINGS | {"rules": rules})


@pytest.mark.long
@pytest.mark.spark
def test_headers_come_along_to_both_topics(topics, written_by):
    topics.append("orders", [Row(key, {"n": n}, 0, (("trace", b"7"),)) for key, n in (("a", 1), ("b", -1))])
    sound, dead = written_by("quality_filter", SETTINGS | {"rules": "$.n > 0"})
    assert sound.headers == {"trace": b"7"}
    assert dead.headers == {
        "trace": b"7",
        "barnabas.dead.reason": b"$.n > 0",
        "barnabas.dead.record": b"orders-0-1",
    }
