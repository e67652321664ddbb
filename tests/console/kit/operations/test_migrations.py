"""Rows from before operations had one set of states are as readable as those from now, and the way back is open too."""

from itertools import product

import pytest

from tests.console.migrating import migrate, migrated

BEFORE = [("departures", "0001_departures"), ("rolling", "0001_initial"), ("zookeeper", "0001_ensemble_changes")]
AFTER = [("departures", "0002_decommission"), ("rolling", "0002_called_off"), ("zookeeper", "0002_called_off")]


#: States of decommissions, and what becomes of each.
DECOMMISSIONS = {
    "draining": ("running", False),
    "paused": ("paused", False),
    "stopping": ("running", True),
    "done": ("done", False),
    "called off": ("called off", False),
}
CANCELLED = [("rolling", "RollingRestart"), ("zookeeper", "EnsembleChange")]


@pytest.fixture
def before(transactional_db):
    with migrated(BEFORE) as models:
        yield models


def states(apps, *model: str) -> list[str]:
    return list(apps.get_model(*model).objects.order_by("id").values_list("state", flat=True))


def test_decommissions_keep_how_far_they_are_and_what_was_cancelled_is_called_off(before):
    departures = before.get_model("departures", "Departure").objects
    for number, state in enumerate(DECOMMISSIONS):
        departures.create(name=f"broker-{number}", broker_id=number, state=state, actor_name="olga", held=7)
    for state, model in product(("done", "cancelled", "running"), CANCELLED):
        before.get_model(*model).objects.create(state=state, actor_name="olga", sentence="Begins.")

    after = migrate(AFTER)
    rows = after.get_model("departures", "Decommission").objects.order_by("id")
    assert [(each.state, each.is_stopping) for each in rows] == list(DECOMMISSIONS.values())
    assert {(each.actor_name, each.held) for each in rows} == {("olga", 7)}
    assert [states(after, *model) for model in CANCELLED] == [["done", "called off", "running"]] * 2

    back = migrate(BEFORE)
    assert states(back, "departures", "Departure") == list(DECOMMISSIONS)
    assert [states(back, *model) for model in CANCELLED] == [["done", "cancelled", "running"]] * 2
