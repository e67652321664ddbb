"""A unit whose worker was suspended, and whose successor has fenced it meanwhile."""

import pytest

from broker.connect.group.wire import Unit
from broker.connect.tasks.unit import RunningUnit
from tests.barnabas_cluster import await_true


class Suspended(RunningUnit):
    """Its run fails as that of a producer that was fenced; the next one, if there is one, lasts until it is stopped."""

    def __init__(self, states, holds):
        super().__init__(Unit("c", 0), lambda _unit, state, _trace: states.append(state), is_paused=False)
        self._holds = holds
        self.runs = 0

    def run(self):
        self.runs += 1
        if self.runs == 1:
            raise LookupError("fenced")
        self.stopping.wait()


@pytest.fixture
def states():
    return []


def test_a_task_that_was_fenced_while_its_worker_was_suspended_has_not_failed(states):
    looks = []
    unit = Suspended(states, lambda: bool(looks.append(1)))
    unit.begin()
    await_true(lambda: len(looks) > 2, "it waits to be told")
    assert states == []
    unit.ask_to_stop()
    assert unit.await_stop(30)
    assert (unit.failed, unit.runs, states) == (False, 1, ["UNASSIGNED"])


def test_it_begins_again_where_its_worker_has_not_lost_its_place_after_all(states):
    looks = []
    unit = Suspended(states, lambda: looks.append(1) or len(looks) > 2)
    unit.begin()
    await_true(lambda: unit.runs == 2, "it begins again")
    assert (unit.failed, states) == (False, ["RUNNING"])
    unit.ask_to_stop()
    assert unit.await_stop(30)


def test_a_task_of_a_worker_in_its_group_fails(states):
    unit = Suspended(states, lambda: True)
    unit.begin()
    assert unit.await_stop(30)
    assert (unit.failed, states) == (True, ["FAILED"])
