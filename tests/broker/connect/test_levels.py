"""Levels of loggers that are set through REST, and by records of the configuration topic."""

import logging
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from broker.connect import levels
from broker.connect.herder.herder import Herder
from broker.connect.levels import NEW_LOGGERS_MAX, NEW_NAME_LENGTH_MAX, Levels
from broker.connect.rest.app import ConnectRest
from broker.connect.settings import STANDALONE, read_settings
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.states import States
from tests.broker.connect.rest.test_app import PROPS


@pytest.fixture(autouse=True)
def loggers():
    """Python forgets no logger by itself."""
    before = dict(logging.root.manager.loggerDict)
    yield logging.root.manager.loggerDict
    logging.root.manager.loggerDict.clear()
    logging.root.manager.loggerDict.update(before)


@pytest.mark.parametrize(
    "name", ["x\nFATAL all is lost", "a.\x1b[2J", "", ".".join("a" * NEW_NAME_LENGTH_MAX), "\ud800"]
)
def test_a_name_that_no_logger_has_makes_none(name, loggers):
    count = len(loggers)
    assert Levels().obstacle(name)
    assert Levels().set(name, "INFO") == []
    assert len(loggers) == count


def test_loggers_that_are_not_there_yet_are_made_up_to_a_bound(loggers, monkeypatch):
    monkeypatch.setattr(levels, "NEW_LOGGERS_MAX", 2)
    of_worker = Levels()
    names = [uuid4().hex for _ in range(3)]
    assert [of_worker.set(name, "ERROR") for name in names] == [[names[0]], [names[1]], []]
    assert of_worker.set(names[0], "WARN") == [names[0]]
    assert of_worker.set("broker.connect", "INFO")
    assert names[2] not in loggers
    assert NEW_LOGGERS_MAX > 2


def test_rest_refuses_such_a_name_for_this_worker_and_for_all():
    herder = Herder(read_settings(PROPS, STANDALONE), "w:1", Configurations(), States(), StoredOffsets())
    client = TestClient(ConnectRest(herder, lambda: "", None, None).app(has_admin=True))
    for scope in ("worker", "cluster"):
        response = client.put(f"/admin/loggers/a%0Ab?scope={scope}", json={"level": "INFO"})
        assert (response.status_code, "printable" in response.text) == (400, True)
