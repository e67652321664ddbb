"""Which leader wrote what: the cache by itself, against a list of records, and as a log keeps it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.errors import ApiError
from broker.log.config import LogConfig
from broker.log.leader_epoch_file import load_leader_epochs, store_leader_epochs
from broker.log.leader_epochs import UNKNOWN_END, EpochEntry, LeaderEpochs
from broker.log.log import Log

CONFIG = LogConfig(segment_bytes=600, index_interval_bytes=150)
CHECKPOINT = "leader-epoch-checkpoint"


@pytest.fixture
def epochs():
    """Epoch 1 wrote 0 to 4, epoch 4 wrote 5 to 7, epoch 6 from 8 on."""
    return LeaderEpochs([(1, 0), (4, 5), (6, 8)])


def test_end_of_an_epoch_is_the_start_of_the_next_one(epochs):
    assert epochs.end_offset_for(1, 10) == (1, 5)
    assert epochs.end_offset_for(4, 10) == (4, 8)
    assert epochs.end_offset_for(6, 10) == (6, 10)


def test_epoch_the_leader_never_saw_is_answered_by_the_largest_below_it(epochs):
    """KIP-279: the follower compares the epoch found with its own."""
    assert epochs.end_offset_for(3, 10) == (1, 5)
    assert epochs.end_offset_for(5, 10) == (4, 8)


def test_epoch_above_the_latest_has_no_answer(epochs):
    assert epochs.end_offset_for(7, 10) == epochs.end_offset_for(-1, 10) == UNKNOWN_END == (-1, -1)
    assert LeaderEpochs().end_offset_for(0, 10) == UNKNOWN_END


@pytest.mark.parametrize("epoch", [-2, -(2**31)])
def test_an_epoch_that_none_can_be_has_no_answer(epochs, epoch):
    assert epochs.end_offset_for(epoch, 10) == LeaderEpochs().end_offset_for(epoch, 10) == UNKNOWN_END


def test_epoch_below_all_known_ends_where_those_begin(epochs):
    epochs.truncate_from_start(6)
    assert epochs.end_offset_for(2, 10) == (2, 6)


def test_older_epochs_are_no_news(epochs):
    for epoch in (0, 5, 6):
        assert not epochs.assign(epoch, 20)
    assert epochs.entries == ((1, 0), (4, 5), (6, 8))


def test_leader_that_wrote_nothing_is_forgotten_when_the_next_one_comes(epochs):
    epochs.assign(7, 12)
    epochs.assign(9, 12)
    assert epochs.entries == ((1, 0), (4, 5), (6, 8), (9, 12))


def test_log_that_is_cut_at_its_ends_forgets_epochs(epochs):
    assert epochs.truncate_from_end(8)
    assert (epochs.entries, epochs.latest_epoch) == (((1, 0), (4, 5)), 4)
    assert not epochs.truncate_from_end(6)
    assert epochs.truncate_from_start(5)
    assert not epochs.truncate_from_start(5)
    assert epochs.entries == ((4, 5),)
    assert epochs.truncate_from_end(0)
    assert (epochs.entries, epochs.latest_epoch) == ((), -1)


@pytest.mark.parametrize(
    ("epoch", "offsets", "entries"),
    [
        (4, (6, 7), ((1, 0), (4, 5), (6, 8))),  # as it was known
        (6, (20, 20), ((1, 0), (4, 5), (6, 8))),
        (9, (20, 22), ((1, 0), (4, 5), (6, 8), (9, 20))),  # the file is of before
        (5, (9, 9), ((1, 0), (4, 5), (5, 9))),  # the file is of before a cut: nothing was written under epoch 6
        (4, (7, 9), ((1, 0), (4, 5))),
        (3, (5, 7), ((1, 0), (3, 5), (6, 8))),  # what is known of later batches is for them to say
        (1, (9, 9), ((1, 0),)),
    ],
)
def test_what_batches_say_counts_more_than_what_was_noted(epochs, epoch, offsets, entries):
    epochs.confirm(epoch, *offsets)
    assert (epochs.entries, epochs.latest_epoch) == (entries, entries[-1][0])


def test_batches_before_the_first_entry_leave_the_later_ones_as_they_are(epochs):
    """The log was noted to start at 6, and its first segment begins before."""
    epochs.truncate_from_start(6)
    epochs.confirm(1, 0, 4)
    epochs.confirm(4, 5, 5)
    assert epochs.entries == ((1, 0), (4, 5), (6, 8))


def test_batch_without_an_epoch_changes_nothing_that_is_known(epochs):
    epochs.confirm(-1, 6, 9)
    assert epochs.entries == ((1, 0), (4, 5), (6, 8))


@pytest.mark.parametrize("entries", [[(1, 0), (1, 5)], [(2, 0), (1, 5)], [(1, 5), (2, 5)], [(1, 5), (2, 3)]])
def test_entries_that_do_not_increase_are_refused(entries):
    with pytest.raises(ValueError, match="too late"):
        LeaderEpochs(entries)


@given(
    terms=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4)), max_size=8),
    start=st.integers(0, 20),
    end=st.integers(0, 20),
)
def test_answers_agree_with_a_list_of_the_epoch_of_each_record(terms, start, end):
    epochs, written, epoch = LeaderEpochs(), [], 0
    for step, records in terms:
        epoch += step
        epochs.assign(epoch, len(written))
        written += [epoch] * records
    end = min(end, len(written))
    start = min(start, end)
    epochs.truncate_from_end(end)
    epochs.truncate_from_start(start)
    for offset in range(start, end):
        assert epochs.epoch_at(offset) == written[offset]
    for asked_epoch in range(1, epochs.latest_epoch + 1):
        first, end_offset = epochs.end_offset_for(asked_epoch, end)
        ends = [offset + 1 for offset in range(start, end) if written[offset] <= asked_epoch]
        assert end_offset == (ends[-1] if ends else start)
        assert first == (written[ends[-1] - 1] if ends else asked_epoch)


@given(
    terms=st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=8),
    noted=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 20)), max_size=5),
)
def test_after_all_batches_have_said_their_epochs_each_offset_has_its_own(terms, noted):
    """Whatever was noted before."""
    epochs, written, epoch = LeaderEpochs(), [], 0
    for item in noted:
        epochs.assign(*item)
    for step, records in terms:
        epoch += step
        epochs.confirm(epoch, len(written), len(written) + records - 1)
        written += [epoch] * records
    assert [epochs.epoch_at(offset) for offset in range(len(written))] == written
    assert LeaderEpochs(epochs.entries).entries == epochs.entries


@pytest.fixture
def log(tmp_path, batch_of):
    """Epochs 0, 2 and 5, ten records each, over several segments."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    for epoch in (0, 2, 5):
        for _ in range(10):
            log.append(batch_of(b"%d" % log.log_end_offset), epoch)
    return log


def test_checkpoint_is_kafkas_text(log):
    assert (log.directory / CHECKPOINT).read_text() == "0\n3\n0 0\n2 10\n5 20\n"
    assert [log.leader_epoch_at(offset) for offset in (0, 9, 10, 19, 20, 30)] == [0, 0, 2, 2, 5, 5]


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize(
    "damage", [None, "", "0\n", "1\n0\n", "0\n2\n0 0\n", "0\n1\n0\n", "0\n2\n3 10\n2 20\n", "\xff", "missing"]
)
def test_checkpoint_that_is_damaged_or_missing_is_made_anew(log, is_clean, damage):
    before = log.leader_epochs.entries
    path = log.directory / CHECKPOINT
    if damage == "missing":
        path.unlink()
    elif damage is not None:
        path.write_bytes(damage.encode("latin-1"))
    again = Log.open(log.directory, CONFIG, is_clean=is_clean)
    assert again.leader_epochs.entries == before
    assert path.read_text() == "0\n3\n0 0\n2 10\n5 20\n"


def test_checkpoint_cut_anywhere_by_a_power_failure_is_not_believed(tmp_path):
    """Cut inside its last number it would speak of another offset."""
    store_leader_epochs(tmp_path, LeaderEpochs([EpochEntry(0, 0), EpochEntry(1, 159)]))
    path = tmp_path / CHECKPOINT
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert load_leader_epochs(tmp_path) is None, size


def test_epochs_of_records_that_recovery_cuts_go_with_them(log, batch_of):
    log.append(batch_of(b"torn"), 7)
    active = max(log.directory.glob("*.log"))
    with active.open("r+b") as file:
        file.truncate(active.stat().st_size - 1)
    again = Log.open(log.directory, CONFIG)
    assert again.leader_epochs.entries == ((0, 0), (2, 10), (5, 20))
    assert (log.directory / CHECKPOINT).read_text() == "0\n3\n0 0\n2 10\n5 20\n"


def test_stale_checkpoint_is_completed_from_the_headers_recovery_reads(log):
    (log.directory / CHECKPOINT).write_text("0\n1\n0 0\n")
    assert Log.open(log.directory, CONFIG).leader_epochs.entries == ((0, 0), (2, 10), (5, 20))


def test_new_leader_notes_its_epoch_before_it_writes(log):
    assert log.begin_leader_epoch(8) is None
    assert log.leader_epochs.entries[-1] == (8, 30)
    assert log.end_offset_for_epoch(5) == (5, 30)
    assert log.end_offset_for_epoch(8) == (8, 30)
    assert (log.directory / CHECKPOINT).read_text().endswith("\n8 30\n")


def test_epoch_that_cannot_be_noted_is_tried_again_with_the_next_batch(log, batch_of, monkeypatch):
    def no_space(path, content):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("broker.log.leader_epoch_file.put_in_place", no_space)
        with pytest.raises(ApiError):
            log.append(batch_of(b"refused"), 9)
    assert (log.log_end_offset, log.leader_epochs.latest_epoch) == (30, 5)
    assert log.append(batch_of(b"taken"), 9).base_offset == 30
    assert (log.directory / CHECKPOINT).read_text().endswith("\n9 30\n")


def test_checkpoint_that_could_not_be_fsynced_is_fsynced_with_the_next_flush(log, monkeypatch):
    """For want of a descriptor the log stays writable, and its recovery point would pass what no disk has."""
    fsynced = []

    def no_descriptor(path):
        raise OSError(24, "Too many open files", str(path))

    with monkeypatch.context() as storm:
        storm.setattr("broker.log.leader_epoch_file.SharedFile", no_descriptor)
        with pytest.raises(ApiError):
            log.flush()
    monkeypatch.setattr("broker.log.leader_epoch_file.fsync_file", fsynced.append)
    log.flush()
    assert len(fsynced) == 1


@pytest.mark.parametrize("left", [b"", b"0\n3\n0 0\n", None], ids=["empty", "half", "missing"])
def test_an_epoch_that_only_the_file_knows_outlives_a_power_failure_after_the_next_was_noted(tmp_path, batch_of, left):
    """Compaction has taken the first records of two epochs; a later epoch was written over what it had fsynced."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    log.append(batch_of(b"."), 0)
    log.end_at(3)
    log.append(batch_of(b"."), 3)
    log.take_over_epochs([EpochEntry(0, 0), EpochEntry(2, 1), EpochEntry(3, 2)])
    log.flush()
    log.append(batch_of(b"."), 5)
    known = log.leader_epochs.entries
    log.close()
    path = log.directory / CHECKPOINT
    path.unlink()
    if left is not None:
        path.write_bytes(left)
    assert Log.open(log.directory, CONFIG, recovery_point=4).leader_epochs.entries == known
    assert known == ((0, 0), (2, 1), (3, 2), (5, 4))


def test_what_an_earlier_file_says_of_records_that_were_cut_since_is_not_believed(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-0", CONFIG)
    for epoch in (0, 2):
        log.append(batch_of(b"."), epoch)
    log.flush()
    log.truncate_to(1)
    log.append(batch_of(b"."), 4)
    log.close()
    (log.directory / CHECKPOINT).write_bytes(b"")
    assert Log.open(log.directory, CONFIG).leader_epochs.entries == ((0, 0), (4, 1))
