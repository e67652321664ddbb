"""Whose topic keeps a connector's source offsets, and that one which several use is read once."""

import pytest

from broker.connect.herder import offset_stores
from broker.connect.herder.offset_stores import OffsetStores
from broker.connect.settings import DISTRIBUTED, read_settings
from broker.connect.storage.logs import MemoryLog, StorageError
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.source_offsets import OwnOffsets

WORKER = {
    "bootstrap.servers": "ours:1", "key.converter": "JsonConverter", "value.converter": "JsonConverter",
    "group.id": "g", "config.storage.topic": "configs", "offset.storage.topic": "offsets",
    "status.storage.topic": "states", "connector.client.config.override.policy": "All",
}  # fmt: skip
ELSEWHERE = {"producer.override.bootstrap.servers": "elsewhere:1"}
OWN = {"offsets.storage.topic": "own"}


def stores(**more):
    offsets = StoredOffsets()
    log = MemoryLog(offsets.apply)
    return OffsetStores(read_settings(WORKER | more, DISTRIBUTED), offsets, lambda: log)


class FakeLog(MemoryLog):
    made, fails = [], False

    def __init__(self, topic, _partitions, _replicas, client, apply, *, has_transactions):
        super().__init__(apply)
        self.steps = [topic, client["bootstrap.servers"], has_transactions]
        FakeLog.made.append(self)

    def start(self):
        if self.fails:
            raise StorageError("not now")
        self.steps.append("started")

    def stop(self):
        self.steps.append("stopped")


@pytest.fixture
def logs(monkeypatch):
    monkeypatch.setattr(offset_stores, "TopicLog", FakeLog)
    FakeLog.made, FakeLog.fails = [], False
    return FakeLog.made


@pytest.mark.parametrize(
    ("props", "is_exact", "topic", "is_own"),
    [
        ({}, False, "offsets", False),
        ({}, True, "offsets", False),
        (OWN, False, "own", True),
        ({"offsets.storage.topic": "offsets"}, True, "offsets", False),
        (ELSEWHERE, False, "offsets", False),
        # Its transactions are of the other cluster, and so is what they write.
        (ELSEWHERE, True, "offsets", True),
        (ELSEWHERE | {"offsets.storage.topic": "offsets"}, False, "offsets", True),
    ],
)
def test_offsets_are_where_the_connector_says_and_where_its_transactions_are(logs, props, is_exact, topic, is_own):
    support = {"exactly.once.source.support": "enabled" if is_exact else "disabled"}
    store = stores(**support).of("c", props)
    assert (store.topic, isinstance(store, OwnOffsets)) == (topic, is_own)
    store.catch_up()
    store.close()
    servers = "elsewhere:1" if props.keys() & ELSEWHERE.keys() else "ours:1"
    assert [log.steps for log in logs] == [[topic, servers, is_exact, "started", "stopped"]] * is_own


def test_tasks_of_one_connector_read_its_topic_once_until_the_last_of_them_is_gone(logs):
    made = stores()
    first, second = made.of("c", OWN), made.of("c", OWN)
    first.catch_up()
    second.catch_up()
    first.put([({"a": 1}, {"n": 1})])
    assert second.of({"a": 1}) == {"n": 1}
    first.close()
    assert [log.steps[-1] for log in logs] == ["started"]
    second.close()
    assert [log.steps[-1] for log in logs] == ["stopped"]


def test_a_topic_that_could_not_be_read_is_tried_anew_by_who_comes_next(logs):
    made = stores()
    FakeLog.fails = True
    with pytest.raises(StorageError):
        made.of("c", OWN).catch_up()
    FakeLog.fails = False
    store = made.of("c", OWN)
    store.catch_up()
    store.close()
    assert [log.steps[-1] for log in logs] == ["stopped", "stopped"]
