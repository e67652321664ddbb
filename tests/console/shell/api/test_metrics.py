"""Metrics with names: for who may see the names, bounded, and what is unknown is left out."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from console.kit.access.models import NameRule
from console.kit.common.clock import now_ms
from console.shell.api import metrics
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup


@pytest.fixture(autouse=True)
def objects(db):
    Topic.objects.create(name="orders", records_per_second=12.5, size_bytes=900)
    Topic.objects.create(name='we"ird\\topic', records_per_second=None)
    for name, lag in (("billing", 40), ("secret-readers", 7), ("unknown", None)):
        behind = None if lag is None else now_ms() - 90_000
        ConsumerGroup.objects.create(
            name=name, state="Stable", coordinator=1, verdict="ok", lag=lag, behind_since_ms=behind
        )


def series(answer):
    assert answer.status_code == 200, answer.content
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_groups_and_topics_are_told_by_name(program, viewer):
    chart_series = series(program(viewer).get("metrics"))
    assert chart_series["barnabas_group_lag_records", "billing"] == 40
    assert 85 < chart_series["barnabas_group_lag_seconds", "billing"] < 500
    assert chart_series["barnabas_topic_records_in_per_second", "orders"] == 12.5
    assert chart_series["barnabas_topic_bytes", 'we"ird\\topic'] == 0


def test_what_is_not_known_is_no_series(program, viewer):
    chart_series = series(program(viewer).get("metrics"))
    assert ("barnabas_group_lag_records", "unknown") not in chart_series
    assert ("barnabas_topic_records_in_per_second", 'we"ird\\topic') not in chart_series


def test_names_a_person_may_not_see_are_not_told(program, viewer):
    NameRule.objects.create(user=viewer, resource="group", pattern="secret*", level="nothing")
    assert "secret" not in program(viewer).get("metrics").content.decode()


def test_series_are_bounded_and_the_worst_come_first(program, viewer, monkeypatch):
    monkeypatch.setattr(metrics, "NAMED_MAX", 1)
    chart_series = series(program(viewer).get("metrics"))
    assert [key for key in chart_series if key[0] == "barnabas_group_lag_records"] == [
        ("barnabas_group_lag_records", "billing")
    ]
    assert chart_series["barnabas_groups_left_out",] == 2
    assert chart_series["barnabas_topics_left_out",] == 1


def test_without_a_token_or_its_scope_there_are_none(program, viewer, outsider, client):
    assert client.get("/api/v1/metrics").status_code == 401
    assert program(viewer, ("plan",)).get("metrics").status_code == 403
    assert program(outsider).get("metrics").status_code == 403
