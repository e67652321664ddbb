"""What rules are made on: how much came, and how late."""

import pytest

from broker.audit.increment import AuditTier
from console.cluster.charts.measures import KINDS, NAME_LENGTH_MAX
from console.ecosystem.completeness import charted
from console.signals.alerts.conditions import conditions
from console.signals.alerts.rules import parse_rules
from console.state.clusters.models import ClusterState
from tests.console.ecosystem.completeness.test_deliveries import MINUTE, NOW, Audit

RULES = """
[channels.ops]
kind = "webhook"
url = "http://127.0.0.1:1/"

[rules.late]
measure = "delivery.p99"
above = 60000
channels = ["ops"]

[rules.short]
measure = "delivery.delivered"
below = 99
channels = ["ops"]
"""


@pytest.fixture
def audit(db, monkeypatch):
    audit = Audit()
    monkeypatch.setattr(charted, "now_ms", lambda: audit.clock_ms)
    for number in range(10):
        offsets, minute = range(number * 10, number * 10 + 10), NOW - 20 + number
        audit.say(AuditTier.APPENDED, *offsets, minute=minute, source="counter")
        if number < 5:
            audit.say(AuditTier.CONSUMED, *offsets, minute=minute, source="slow", latency_ms=90_000)
    audit.look()
    return audit


def readings():
    _, first = charted.readings(ClusterState())
    return {reading.name: dict(zip(KINDS[reading.kind], reading.values, strict=True)) for reading in first}


def test_what_came_and_how_late_is_a_value_of_each_reader(audit):
    (reading,) = readings().values()
    assert reading["delivered"] == pytest.approx(100 * 4 / 9)
    assert reading["p50"] == pytest.approx(90_000, rel=0.06)
    assert reading["again"] == 0


def test_a_rule_on_it_is_broken_in_words(audit):
    _, first = charted.readings(ClusterState())
    conditions_by_rule = {condition.rule: condition for condition in conditions(parse_rules(RULES), first, None, {})}
    assert conditions_by_rule["short"].is_bad
    assert conditions_by_rule["late"].is_bad
    assert (
        conditions_by_rule["short"].sentence
        == "Delivery of t/consumed slow has come to 44.44 % of what was expected, below 99.00 %."
    )
    assert "for 99 % of the records" in conditions_by_rule["late"].sentence
    assert conditions_by_rule["late"].link == "completeness/t/+delivery/"


def test_a_group_that_stands_still_falls_behind_and_its_latency_is_not_known(audit):
    for number in range(10, 25):
        audit.clock_ms += MINUTE
        audit.say(AuditTier.APPENDED, number * 10, minute=NOW - 20 + number, source="counter")
        audit.look()
    (reading,) = readings().values()
    assert reading["delivered"] < 50
    assert reading["p99"] is None


def test_nothing_is_known_where_nobody_counts_any_more(audit):
    audit.clock_ms += 10 * MINUTE
    assert set(readings()["t/consumed slow"].values()) == {None}


def test_a_name_that_is_too_long_is_cut_and_stays_one_of_its_own():
    names = {charted.series_name("t" * 249, "consumed", "g" * 500 + end) for end in "ab"}
    assert len(names) == 2
    assert {len(name) for name in names} == {NAME_LENGTH_MAX}
