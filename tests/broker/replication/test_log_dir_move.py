"""What a copy of a log in another directory needs next, decided by offsets and leader epochs alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.replication.log_dir_move import NOTHING, EpochStart, LogDirMoveStep, MovedExtent, next_step, shared_end

REST = 100


@pytest.mark.parametrize(
    ("log", "copy", "bytes_missing", "step"),
    [
        (MovedExtent(0, 50), MovedExtent(0, 10), REST + 1, LogDirMoveStep.COPY),
        (MovedExtent(0, 50), MovedExtent(0, 49), REST, LogDirMoveStep.EXCHANGE),
        (MovedExtent(0, 50), MovedExtent(0, 50), 0, LogDirMoveStep.EXCHANGE),
        (MovedExtent(20, 50), MovedExtent(0, 10), 0, LogDirMoveStep.START_OVER),
        (MovedExtent(20, 50), MovedExtent(0, 20), REST + 1, LogDirMoveStep.COPY),
        (MovedExtent(50, 50), MovedExtent(0, 10), 0, LogDirMoveStep.START_OVER),
        (MovedExtent(0, 5), MovedExtent(30, 40), 0, LogDirMoveStep.START_OVER),
    ],
)
def test_what_is_missing_says_what_to_do_next(log, copy, bytes_missing, step):
    assert next_step(log, copy, bytes_missing, REST) is step


def epochs(*pairs):
    return [EpochStart(*pair) for pair in pairs]


@pytest.mark.parametrize(
    ("log", "log_end", "copy", "copy_end", "shared"),
    [
        (epochs((1, 0)), 50, epochs((1, 0)), 30, 30),
        (epochs((1, 0)), 20, epochs((1, 0)), 30, 20),
        (epochs((1, 0), (3, 20)), 90, epochs((1, 0), (2, 25)), 40, 20),
        (epochs((1, 0)), 40, epochs((1, 0), (2, 25)), 40, 25),
        (epochs((4, 10)), 40, epochs((1, 0)), 30, NOTHING),
        (epochs((1, 0)), 40, [], 0, NOTHING),
    ],
)
def test_both_hold_the_same_up_to_where_their_last_common_epoch_ends(log, log_end, copy, copy_end, shared):
    assert shared_end(log, log_end, copy, copy_end) == shared


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(0, 40), st.lists(st.integers(4, 6), max_size=20)
)
def test_a_log_that_was_cut_and_written_on_under_later_epochs_shares_what_was_left(raises, cut, later):
    """Records are (epoch, offset); whatever a copy held of the log as it was, only what is still there stays."""

    def starts(records):
        results = {}
        for offset, epoch in enumerate(records):
            results.setdefault(epoch, offset)
        return [EpochStart(*item) for item in results.items()]

    was = sorted(raises)
    cut = min(cut, len(was))
    now = was[:cut] + sorted(later)
    copied = was
    shared = shared_end(starts(now), len(now), starts(copied), len(copied))
    common = next(
        (at for at, (a, b) in enumerate(zip(now, copied, strict=False)) if a != b), min(len(now), len(copied))
    )
    assert max(0, shared) == common
