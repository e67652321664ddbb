"""Replicas that wrote different records find by leader epochs where they part (traps 1 to 3; KIP-101, KIP-279)."""

import pytest

from broker.common.types import NO_LEADER_EPOCH
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.batch import iterate_headers
from tests.broker.log.thinned_out import thin_out

CONFIG = LogConfig(segment_bytes=600, index_interval_bytes=150)


@pytest.fixture
def new_log(tmp_path, batch_of):
    def new(name: str, *terms: tuple[int, int]) -> Log:
        """A log whose records were written by (epoch, how many)."""
        log = Log.open(tmp_path / name, CONFIG)
        for epoch, count in terms:
            write(log, epoch, count)
        return log

    def write(log: Log, epoch: int, count: int) -> None:
        log.begin_leader_epoch(epoch)
        for _ in range(count):
            log.append(batch_of(b"%d from epoch %d" % (log.log_end_offset, epoch)), epoch)

    new.write = write
    return new


def follow(follower: Log, leader: Log) -> list[int]:
    """Truncate and fetch as a follower does; the log ends it went through."""
    ends = [follower.log_end_offset]
    while follower.leader_epochs.latest_epoch != NO_LEADER_EPOCH:
        epoch = follower.leader_epochs.latest_epoch
        end = leader.end_offset_for_epoch(epoch)
        own = follower.end_offset_for_epoch(end.epoch)
        follower.truncate_to(min(own.end_offset, end.end_offset))
        ends.append(follower.log_end_offset)
        if end.epoch in (epoch, own.epoch):
            break
    while follower.log_end_offset < leader.log_end_offset:
        data = leader.read(follower.log_end_offset, 400, leader.log_end_offset).read()
        follower.append_as_follower(memoryview(data))
    return ends


def content(log: Log) -> bytes:
    records_read, offset = b"", log.log_start_offset
    while offset < log.log_end_offset:
        data = log.read(offset, 1 << 20, log.log_end_offset).read()
        offset = [header for _, header in iterate_headers(data)][-1].next_offset
        records_read += data
    return records_read


def test_trap_1_follower_truncates_to_leader_epoch_end(new_log):
    """By its high watermark it would keep too little, or, having forgotten it, too much."""
    leader, follower = new_log("a", (0, 10), (1, 5)), new_log("b", (0, 14))
    assert follow(follower, leader) == [14, 10]
    assert content(follower) == content(leader)
    assert follower.leader_epochs.entries == leader.leader_epochs.entries == ((0, 0), (1, 10))


def test_trap_2_two_quick_fail_overs_are_found_out_one_epoch_at_a_time(new_log):
    """The leader never saw epoch 3; by its answer alone, where epoch 2 ends, records of epoch 1 would differ."""
    leader = new_log("a", (0, 10), (2, 10), (5, 5))
    follower = new_log("b", (0, 8), (1, 6), (3, 9))
    assert follow(follower, leader)[-1] == 8
    assert content(follower) == content(leader)


def test_trap_2_answer_names_the_epoch_found(new_log):
    leader = new_log("a", (0, 10), (2, 10), (5, 5))
    assert leader.end_offset_for_epoch(3) == (2, 20)
    assert leader.end_offset_for_epoch(1) == (0, 10)
    assert leader.end_offset_for_epoch(6) == (NO_LEADER_EPOCH, -1)


def test_trap_2_any_two_histories_with_a_common_beginning_become_one(new_log):
    histories = [
        [(0, 3)],
        [(0, 3), (1, 4)],
        [(0, 5), (2, 4)],
        [(0, 5), (2, 2), (3, 7)],
        [(0, 9), (4, 1)],
        [(0, 1), (5, 12)],
    ]
    for number, theirs in enumerate(histories):
        for other, ours in enumerate(histories):
            leader = new_log(f"leader-{number}-{other}", *theirs, (9, 4))
            follower = new_log(f"follower-{number}-{other}", *ours)
            follow(follower, leader)
            assert content(follower) == content(leader), (theirs, ours)
            assert follower.leader_epochs.entries == leader.leader_epochs.entries


def test_trap_3_new_leader_notes_its_epoch_before_it_serves(new_log):
    leader = new_log("a", (0, 10), (4, 0))
    assert leader.leader_epochs.entries == ((0, 0), (4, 10))
    assert leader.end_offset_for_epoch(0) == (0, 10), "as soon as it leads, whatever it writes later"
    new_log.write(leader, 4, 3)
    assert leader.end_offset_for_epoch(0) == (0, 10)
    assert leader.end_offset_for_epoch(4) == (4, 13)


def test_trap_3_epochs_and_offsets_of_the_cache_increase_strictly(new_log):
    log = new_log("a", (0, 10), (4, 0), (6, 0))
    assert log.leader_epochs.entries == ((0, 0), (6, 10)), "nothing was written under epoch 4"
    new_log.write(log, 6, 5)
    log.begin_leader_epoch(5)
    assert log.leader_epochs.entries == ((0, 0), (6, 10))


def test_trap_3_question_below_the_first_entry_is_answered_by_where_that_begins(new_log):
    log = new_log("a", (2, 10), (4, 5))
    log.delete_records(12, 15)
    assert log.leader_epochs.entries == ((4, 12),)
    assert log.end_offset_for_epoch(2) == (2, 12)
    assert log.end_offset_for_epoch(0) == (0, 12)


def test_epoch_without_records_of_a_deposed_leader_does_not_stay_in_the_way(new_log):
    """It led epoch 5 and wrote nothing; the leader of epoch 6 never heard of that, and has more of epoch 4."""
    follower, leader = new_log("a", (4, 10), (5, 0)), new_log("b", (4, 12), (6, 3))
    assert follow(follower, leader)[-1] == 10
    assert content(follower) == content(leader)
    assert follower.leader_epochs.entries == leader.leader_epochs.entries == ((4, 0), (6, 12))


def test_epoch_without_records_gives_way_even_if_nobody_truncates(new_log):
    follower, leader = new_log("a", (4, 10), (5, 0)), new_log("b", (4, 12), (6, 3))
    while follower.log_end_offset < leader.log_end_offset:
        data = leader.read(follower.log_end_offset, 1 << 20, leader.log_end_offset).read()
        follower.append_as_follower(memoryview(data))
    assert follower.leader_epochs.entries == ((4, 0), (6, 12))
    assert Log.open(follower.directory, CONFIG).leader_epochs.entries == ((4, 0), (6, 12))


def test_leader_killed_after_compaction_lets_no_follower_keep_what_was_never_committed(new_log):
    """Where an epoch began in its log is known from before: the batches that are left of it begin later."""
    leader, follower = new_log("a", (4, 10), (6, 30)), new_log("b", (4, 11))
    thin_out(leader)
    leader = Log.open(leader.directory, CONFIG, is_clean=False)
    assert leader.leader_epochs.entries == ((4, 0), (6, 10))
    left = [header.base_offset for segment in leader.segments for _, header in segment.batches()]
    assert not {10, 11}.intersection(left), "both were compacted away"
    assert follow(follower, leader)[:2] == [11, 10]
