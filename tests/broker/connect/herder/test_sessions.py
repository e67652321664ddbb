"""Who signs requests between workers, who is asked to, and who changes the key, by what the group speaks."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from broker.connect.api import ConnectError
from broker.connect.group.session_key import KEY, read_key
from broker.connect.herder.sessions import Sessions, Unsigned
from broker.connect.settings import DISTRIBUTED, read_settings
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.logs import MemoryLog, StorageError

PROPS = {
    "key.converter": "JsonConverter", "value.converter": "JsonConverter", "group.id": "g", "config.storage.topic": "c",
    "offset.storage.topic": "o", "status.storage.topic": "s",
}  # fmt: skip


class Herder:
    """Its thread is the caller's."""

    def __init__(self, **props):
        self.settings = read_settings(PROPS | props, DISTRIBUTED)
        self.configurations = Configurations()
        self.config_log = MemoryLog(self.configurations.apply)
        self.group = SimpleNamespace(is_sessioned=True, is_leader=True)

    def write_as_leader(self, records):
        self.config_log.put(records)

    def submit(self, call):
        done = Future()
        try:
            done.set_result(call())
        except StorageError as error:
            done.set_exception(error)
        return done


def test_a_group_with_a_worker_that_signs_nothing_neither_signs_nor_asks_for_it():
    herder = Herder()
    herder.group.is_sessioned = False
    sessions = Sessions(herder)
    sessions.tick()
    assert herder.configurations.session_key is None
    assert sessions.headers(b"") == {}
    sessions.require({}, b"")


def test_the_leader_alone_makes_a_key_and_every_worker_signs_with_it():
    herder = Herder()
    sessions = Sessions(herder)
    herder.group.is_leader = False
    sessions.tick()
    with pytest.raises(ConnectError, match="not given out a session key yet"):
        sessions.headers(b"")
    herder.group.is_leader = True
    sessions.tick()
    sessions.require(sessions.headers(b"body"), b"body")
    with pytest.raises(Unsigned) as refused:
        sessions.require(sessions.headers(b"body"), b"other")
    assert refused.value.status == 403


def test_a_key_that_could_not_be_written_is_tried_again_after_a_pause(monkeypatch):
    herder, tries = Herder(), []

    def fails(records):
        tries.append(records)
        raise StorageError("no broker")

    herder.config_log.put = fails
    clock = SimpleNamespace(monotonic=lambda: len(tries) * 0.4 + clock.more, time=lambda: 1_000.0, more=0.0)
    monkeypatch.setattr("broker.connect.herder.sessions.time", clock)
    sessions = Sessions(herder)
    for _ in range(3):
        sessions.tick()
    assert len(tries) == 1
    clock.more = 1.0
    sessions.tick()
    assert len(tries) == 2
    assert all(try_[0][0] == KEY.encode() and read_key(None) is None for try_ in tries)


@pytest.mark.parametrize(
    "props",
    [
        {"inter.worker.signature.algorithm": "HmacSHA512"},
        {"inter.worker.verification.algorithms": "HmacSHA256,Crc"},
        {"inter.worker.key.size": "8"},
        {"connect.protocol": "loud"},
    ],
)
def test_settings_that_no_worker_could_keep_are_refused(props):
    from broker.common.errors import StartupError

    with pytest.raises(StartupError):
        Herder(**props)
