"""Rows from before operations had one set of states are as readable as those from now, and the way back is open too."""

import pytest

from tests.console.migrating import migrate, migrated

BEFORE = [("departures", "0001_departures"), ("rolling", "0001_initial"), ("zookeeper", "0001_ensemble_changes")]
AFTER = [("departures", "0002_decommission"), ("rolling", "0002_called_off"), ("zookeeper", "0002_called_off")]


@pytest.fixture
def before(transactional_db):
    with migrated(BEFORE) as models:
        yield models


def states(apps, *model: str) -> list[str]:
    return list(apps.get_model(*model).objects.order_by("id").values_list("state", flat=True))


def test_decommissions_keep_how_far_they_are(before):
    model = before.get_model("departures", "Departure")
    known = ["draining", "paused", "stopping", "done", "called off"]
    for number, state in enumerate(known):
        model.objects.create(name=f"broker-{number}", broker_id=number, state=state, actor_name="olga", held=7)
    after = migrate(AFTER)
    rows = after.get_model("departures", "Decommission").objects.order_by("id")
    assert [(each.state, each.is_stopping) for each in rows] == [
        ("running", False),
        ("paused", False),
        ("running", True),
        ("done", False),
        ("called off", False),
    ]
    assert {(each.actor_name, each.held) for each in rows} == {("olga", 7)}
    assert states(migrate(BEFORE), "departures", "Departure") == [
        "draining",
        "paused",
        "stopping",
        "done",
        "called off",
    ]


@pytest.mark.parametrize("model", [("rolling", "RollingRestart"), ("zookeeper", "EnsembleChange")])
def test_what_was_cancelled_is_called_off(model, before):
    for state in ("done", "cancelled", "running"):
        before.get_model(*model).objects.create(state=state, actor_name="olga", sentence="Begins.")
    assert states(migrate(AFTER), *model) == ["done", "called off", "running"]
    assert states(migrate(BEFORE), *model) == ["done", "cancelled", "running"]
