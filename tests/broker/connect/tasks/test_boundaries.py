"""Where transactions of a source end, told by polls, by time and by the connector."""

import pytest

from broker.connect.api import ConfigError, SourceRecord
from broker.connect.tasks.boundaries import Boundaries, TransactionEnd


def record(number):
    return SourceRecord({}, {"n": number}, "t", None, None, None, None, number)


def test_each_poll_is_a_transaction_unless_said_otherwise():
    boundaries = Boundaries({}, 60.0)
    assert boundaries.context is None
    assert boundaries.behind(record(1)) is TransactionEnd.NOT_YET
    assert boundaries.behind_batch(0.0) is TransactionEnd.COMMIT


def test_an_interval_is_one_and_by_default_as_long_as_offsets_take():
    boundaries = Boundaries({"transaction.boundary": "interval"}, 60.0)
    assert [boundaries.behind_batch(at) for at in (100.0, 159.9, 160.0, 219.0, 220.0)] == [
        TransactionEnd.NOT_YET, TransactionEnd.NOT_YET, TransactionEnd.COMMIT, TransactionEnd.NOT_YET,
        TransactionEnd.COMMIT,
    ]  # fmt: skip
    own = Boundaries({"transaction.boundary": "interval", "transaction.boundary.interval.ms": "500"}, 60.0)
    assert [own.behind_batch(at) for at in (1.0, 1.5)] == [TransactionEnd.NOT_YET, TransactionEnd.COMMIT]


def test_a_connector_says_behind_which_record_or_batch():
    boundaries = Boundaries({"transaction.boundary": "connector"}, 60.0)
    first, second, third = record(1), record(2), record(3)
    boundaries.context.commit_transaction(first)
    boundaries.context.abort_transaction(second)
    assert [boundaries.behind(item) for item in (first, second, third)] == [
        TransactionEnd.COMMIT,
        TransactionEnd.ABORT,
        TransactionEnd.NOT_YET,
    ]
    assert boundaries.behind_batch(0.0) is TransactionEnd.NOT_YET
    boundaries.context.abort_transaction()
    assert [boundaries.behind_batch(at) for at in (1e9, 2e9)] == [TransactionEnd.ABORT, TransactionEnd.NOT_YET]
    assert not boundaries.ends_with_task


def test_a_boundary_that_is_none_is_refused():
    with pytest.raises(ConfigError):
        Boundaries({"transaction.boundary": "record"}, 60.0)
