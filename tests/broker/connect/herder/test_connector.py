"""A connector's thread: it says which tasks there are until somebody has taken it, and no more than may be."""

import threading
from concurrent.futures import Future

import pytest

from broker.connect.api import ConnectError, SourceConnector
from broker.connect.group.wire import CONNECTOR, Unit
from broker.connect.herder import connector as module
from broker.connect.herder.connector import RunningConnector
from broker.connect.plugins import Plugin, catalog


class Two(SourceConnector):
    class task_class:
        pass

    def start(self, props, context):
        return

    def task_configs(self, max_tasks):
        return [{"number": "0"}, {"number": "1"}]


@pytest.fixture
def running(monkeypatch):
    monkeypatch.setattr(catalog, "_entry_points", lambda: (Plugin("Two", f"{__name__}:Two"),))
    monkeypatch.setattr(module, "_PAUSE_FIRST_S", 0.001)
    begun = []

    def begin(publish, **props):
        messages = []
        unit = RunningConnector(
            Unit("c", CONNECTOR), lambda *states: messages.append(states[1:]), is_paused=False,
            props={"connector.class": "Two", "tasks.max": "2"} | {k.replace("_", "."): v for k, v in props.items()},
            publish=publish,
        )  # fmt: skip
        unit.begin()
        begun.append(unit)
        return unit, messages

    yield begin
    for unit in begun:
        unit.ask_to_stop()
        assert unit.await_stop(30)


def test_tasks_that_could_not_be_written_are_told_again_until_they_are(running):
    answers, taken = [ConnectError("brokers are away"), OSError("no leader"), None], threading.Event()

    def publish(_name, configs):
        done, error = Future(), answers.pop(0)
        if isinstance(error, OSError):
            raise error
        done.set_exception(error) if error else done.set_result(None)
        if not error:
            assert [config["number"] for config in configs] == ["0", "1"]
            taken.set()
        return done

    _, states = running(publish)
    assert taken.wait(30)
    assert states == [("RUNNING", None)]


def test_a_stored_connector_is_asked_for_as_many_tasks_as_the_bound(running, monkeypatch):
    wanted, reported = [], threading.Event()
    monkeypatch.setattr(Two, "task_configs", lambda _self, max_tasks: wanted.append(max_tasks) or [])
    running(lambda *_: reported.set(), tasks_max="2000000000")
    assert reported.wait(30)
    assert wanted == [10_000]


@pytest.mark.parametrize(("enforced", "fails"), [("true", True), ("false", False)])
def test_more_tasks_than_may_be_are_a_failure_unless_it_is_said_otherwise(running, enforced, fails):
    reported = threading.Event()
    unit, states = running(lambda *_: reported.set(), tasks_max="1", tasks_max_enforce=enforced)
    if fails:
        assert unit.await_stop(30)
        assert not reported.is_set()
        assert states[-1][0] == "FAILED"
        assert "has generated 2 tasks" in states[-1][1]
    else:
        assert reported.wait(30)
