"""A connector's own store of source offsets before the worker's: who counts, and in which order both are told."""

import pytest

from broker.connect.storage.logs import MemoryLog, StorageError
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.source_offsets import OwnOffsets, SharedOffsets

A, B = {"source": "a"}, {"source": "b"}


class Stage:
    def __init__(self):
        self.steps, self.fails = [], set()
        self.shared_offsets, self.own_offsets = StoredOffsets(), StoredOffsets()
        self.shared = SharedOffsets("c", "all", self._log("shared", self.shared_offsets), self.shared_offsets)
        own = self._log("own", self.own_offsets), self.own_offsets
        self.store = OwnOffsets("c", "own", self.shared, lambda: own, lambda: self.steps.append("closed"))

    def _log(self, name, offsets):
        stage = self

        class Log(MemoryLog):
            def put(self, records):
                records = list(records)
                if name in stage.fails:
                    raise StorageError(name)
                stage.steps.append((name, [value is not None for _, value in records]))
                super().put(records)

        return Log(offsets.apply)


@pytest.fixture
def stage():
    return Stage()


def test_what_the_own_topic_says_counts_and_the_workers_is_asked_for_the_rest(stage):
    stage.shared.put([(A, {"n": 1}), (B, {"n": 2})])
    stage.store.put([(A, {"n": 3})])
    assert (stage.store.of(A), stage.store.of(B)) == ({"n": 3}, {"n": 2})
    assert sorted(stage.store.all(), key=str) == [(A, {"n": 3}), (B, {"n": 2})]


def test_offsets_are_kept_in_the_own_topic_first_and_the_worker_is_told(stage):
    stage.store.put([(A, {"n": 1})])
    assert stage.steps == [("own", [True]), ("shared", [True])]
    assert stage.shared.of(A) == {"n": 1}


def test_what_is_taken_back_is_taken_back_at_the_worker_first(stage):
    stage.store.put([(A, {"n": 1}), (B, {"n": 1})])
    stage.steps.clear()
    stage.store.put([(A, None), (B, {"n": 2})])
    assert stage.steps == [("shared", [False]), ("own", [False, True]), ("shared", [True])]
    assert stage.store.all() == [(B, {"n": 2})]
    stage.fails.add("shared")
    with pytest.raises(StorageError):
        stage.store.put([(B, None)])
    assert stage.own_offsets.of("c", B) == {"n": 2}


def test_a_worker_that_cannot_be_told_is_no_failure_of_what_is_kept(stage):
    stage.fails.add("shared")
    stage.store.put([(A, {"n": 1})])
    stage.store.are_committed([(B, {"n": 1})])
    assert stage.own_offsets.of("c", A) == {"n": 1}
    stage.fails = {"own"}
    with pytest.raises(StorageError):
        stage.store.put([(A, {"n": 2})])
    assert stage.store.of(A) == {"n": 1}


def test_it_is_closed_once_if_it_was_opened(stage):
    stage.store.close()
    assert stage.steps == []
    stage.store.catch_up()
    stage.store.close()
    stage.store.close()
    assert stage.steps == ["closed"]
