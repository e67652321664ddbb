"""Topics that files take away after a day of grace, and keep by declaring them."""

import pytest

from console.cluster.topics.models import PlannedDeletion
from tests.console.automation.declared.conftest import actions, topics

LATER = "topics: {old: {absent: later}}"
STAYS = "topics: {old: {partitions: 2}}"


@pytest.fixture(autouse=True)
def _old(cluster, collect):
    cluster.create_topic("old", 2, 1)
    cluster.append("old", 0, 5)
    collect()


def test_a_topic_goes_after_a_day_and_applied_again_nothing_is_done(files, operator, cluster):
    file = files(operator, LATER)
    assert [part.plan.action for part in file.compare().context["made"].parts] == ["delete topic later"]
    assert file.apply().status_code == 302
    assert (topics(cluster), PlannedDeletion.objects.get().state) == ({"old": 2}, "waiting")
    assert file.compare().context["plan"].is_empty
    assert ("delete topic later", "done") in actions()


def test_who_declares_it_again_calls_it_off(files, operator):
    files(operator, LATER).apply()
    shown = files(operator, STAYS).compare()
    assert [part.plan.action for part in shown.context["made"].parts] == ["call off deletion"]
    files(operator, STAYS).apply(shown)
    assert PlannedDeletion.objects.get().state == "called off"
    assert files(operator, STAYS).compare().context["plan"].is_empty


def test_one_that_was_kept_is_planned_anew(files, operator):
    files(operator, LATER).apply()
    PlannedDeletion.objects.update(state="kept")
    files(operator, LATER).apply()
    assert sorted(PlannedDeletion.objects.values_list("state", flat=True)) == ["called off", "waiting"]


def test_one_that_is_not_there_is_nothing_to_do(files, operator):
    assert files(operator, "topics: {never: {absent: later}}").compare().context["plan"].is_empty


@pytest.mark.parametrize("text", [LATER, STAYS])
def test_a_viewer_plans_nothing_and_calls_nothing_off(text, files, operator, viewer):
    if text == STAYS:
        files(operator, LATER).apply()
    before = list(PlannedDeletion.objects.values_list("state", flat=True))
    shown = files(viewer, text).compare()
    assert shown.context["plan"].obstacle
    assert files(viewer, text).apply(shown).status_code in (403, 409)
    assert list(PlannedDeletion.objects.values_list("state", flat=True)) == before
