"""The checker of what was ever seen as committed finds what it is there to find."""

from uuid import UUID

import pytest

from broker.records.record import Record
from tests.simulation.committed import Committed
from tests.simulation.history import History
from tests.simulation.timeline import Timeline

OLD, NEW = UUID(int=1), UUID(int=2)


@pytest.fixture
def history():
    return History(Timeline())


@pytest.fixture
def committed(history):
    seen = Committed(history)
    seen.see("reader", OLD, 0, 3, [record(0, b"first")])
    return seen


def record(offset: int, value: bytes) -> Record:
    return Record(offset, 0, None, value)


def test_the_same_record_seen_again_is_right(history, committed):
    committed.see("replica", OLD, 0, 3, [record(0, b"first"), record(1, b"second")])
    assert history.violations == []


@pytest.mark.parametrize(("epoch", "value"), [(3, b"other"), (4, b"first")])
def test_another_record_or_epoch_at_an_offset_is_found(history, committed, epoch, value):
    committed.see("replica", OLD, 0, epoch, [record(0, value)])
    assert len(history.violations) == 1


def test_record_of_an_earlier_topic_of_the_name_is_found(history, committed):
    committed.see("reader", NEW, 0, 3, [record(0, b"first")])
    assert len(history.violations) == 1
