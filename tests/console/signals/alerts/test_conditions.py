"""What a condition says of an object."""

import pytest

from console.cluster.charts.measures import CLUSTER, KINDS, MEASURES, Reading
from console.signals.alerts.conditions import conditions
from console.signals.alerts.rules import AlertRule, Ruleset
from console.signals.overview.health import Health, HealthLevel


def condition_of(kind, measure):
    rule = AlertRule("a-rule", ("ops",), kind=kind, measure=measure, threshold=1.0)
    reading = Reading(kind, "" if kind == CLUSTER else "7/x", tuple(2.0 for _ in KINDS[kind]))
    (condition,) = conditions(Ruleset({"a-rule": rule}), [reading], Health(HealthLevel.OK, ()), {})
    return condition


@pytest.mark.parametrize(("kind", "measure"), [(kind, measure) for kind in KINDS for measure in KINDS[kind]])
def test_every_measure_of_every_kind_has_a_sentence_and_a_page(kind, measure):
    condition = condition_of(kind, measure)
    assert condition.is_bad
    assert condition.sentence.endswith(f", above {MEASURES[measure].amount(1.0)}.")
    assert "{" not in condition.sentence
    assert condition.link.endswith("/")


def test_no_measure_is_described_that_no_kind_has():
    assert set(MEASURES) == {measure for measures in KINDS.values() for measure in measures}


@pytest.mark.parametrize(
    ("kind", "measure", "sentence", "link"),
    [
        ("cluster", "leaderless", "The cluster has 2 partitions without a leader, above 1.", "charts/"),
        ("delivery", "p99", "Delivery of 7/x takes up to 2.0\u202fms for 99 % of the records, above 1.0\u202fms.",
         "completeness/7/+delivery/"),
        ("process", "cpu", "Process 7/x takes 2 % of a core, above 1 %.", "processes/7/x/+charts/"),
        ("topic", "size", "Topic 7/x holds 2\u202fB, above 1\u202fB.", "topics/7%2Fx/+charts/"),
    ],
)  # fmt: skip
def test_a_sentence_names_the_object_what_it_has_and_the_limit(kind, measure, sentence, link):
    condition = condition_of(kind, measure)
    assert (condition.sentence, condition.link) == (sentence, link)
