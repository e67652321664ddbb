"""What is known of producers after cuts is what reading the whole log would tell."""

from random import Random

import pytest

from broker.log import producer_search
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.producer_state import PartitionProducers
from broker.log.stored_segment import StoredSegment
from broker.records.batch import patch_batch
from broker.records.builder import build_batch
from broker.records.record import Record

CONFIG = LogConfig(segment_bytes=4_000, index_interval_bytes=300)


def sent_by(log: Log, producer_id: int, epoch: int, sequence: int) -> None:
    end = log.log_end_offset
    batch = build_batch(
        [Record(0, 1_000, None, b"x")], producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
    )
    patch_batch(batch, 0, end, 0)
    log.append_as_follower(memoryview(batch))


def last_batches_by_reading_all(log: Log) -> dict[int, tuple]:
    results = {}
    for segment in log.segments:
        for _, header in segment.batches():
            if header.producer_id >= 0:
                results[header.producer_id] = (header.producer_epoch, header.base_sequence, header.base_offset)
    return results


def last_batches(state: PartitionProducers) -> dict[int, tuple]:
    """By producer id: its epoch, the last sequence number and the last offset of its last batch."""
    last = {producer_id: (item.epoch, item.batches[-1]) for producer_id, item in state._producers.items()}
    return {producer_id: (epoch, sent.last_sequence, sent.last_offset) for producer_id, (epoch, sent) in last.items()}


@pytest.mark.parametrize("seed", range(30))
def test_any_cuts_leave_what_a_reader_of_the_whole_log_would_know(tmp_path, monkeypatch, seed):
    """Some producers are busy, some rare; they change epochs; the log is cut again and again, and reopened."""
    monkeypatch.setattr(producer_search, "_PIECE_BYTES", 600)
    choices = Random(seed)
    log = Log.open(tmp_path / "t-0", CONFIG)
    epochs = dict.fromkeys(range(8), 0)
    sequence = 0
    for _ in range(12):
        for _ in range(choices.randrange(1, 60)):
            producer_id = min(choices.randrange(8), choices.randrange(8), choices.randrange(8))
            epochs[producer_id] += choices.random() < 0.1
            sequence += 1
            sent_by(log, producer_id, epochs[producer_id], sequence)
        if choices.random() < 0.3:
            log.flush()
            log.store_clean_state()
            log = Log.open(log.directory, CONFIG, is_clean=True)
        log.truncate_to(max(0, log.log_end_offset - choices.randrange(40)))
        assert last_batches(log._producers.state) == last_batches_by_reading_all(log)
        log._producers.state.encode()


def test_only_the_end_of_the_log_is_read_for_a_producer_that_was_at_work(tmp_path, monkeypatch):
    monkeypatch.setattr(producer_search, "_PIECE_BYTES", 1_000)
    log = Log.open(tmp_path / "t-0", LogConfig(index_interval_bytes=300))
    for sequence in range(2_000):
        sent_by(log, 7, 0, sequence)
    pieces, backwards = [], StoredSegment.batches_backwards

    def counting(segment, piece_bytes):
        for headers in backwards(segment, piece_bytes):
            pieces.append(len(headers))
            yield headers

    monkeypatch.setattr(StoredSegment, "batches_backwards", counting)
    log.truncate_to(1_900)
    assert last_batches(log._producers.state) == {7: (0, 1_899, 1_899)}
    assert sum(pieces) < 40


def test_producer_that_began_in_what_was_cut_is_not_looked_for(tmp_path, monkeypatch):
    log = Log.open(tmp_path / "t-0", CONFIG)
    for sequence in range(20):
        sent_by(log, 7, 0, sequence)
    for sequence in range(20):
        sent_by(log, 8, sequence // 10, sequence % 10)

    def reading(segment, piece_bytes):
        raise AssertionError("nothing is to be read")

    monkeypatch.setattr(StoredSegment, "batches_backwards", reading)
    log.truncate_to(20)
    assert last_batches(log._producers.state) == {7: (0, 19, 19)}


def test_damage_in_the_way_leaves_what_the_last_snapshot_knew(tmp_path, monkeypatch):
    monkeypatch.setattr(producer_search, "_PIECE_BYTES", 300)
    log = Log.open(tmp_path / "t-0", CONFIG)
    for sequence in range(3):
        sent_by(log, 9, 0, sequence)
    for sequence in range(100):
        sent_by(log, 7, 0, sequence)
    log.flush()
    log.store_clean_state()
    log = Log.open(log.directory, CONFIG, is_clean=True)
    for sequence in range(40):
        sent_by(log, 7, 0, 100 + sequence)
    for sequence in range(6):
        sent_by(log, 9, 1, sequence)
    segment = log.segments[-1]
    content = bytearray(segment.files.log.read_bytes())
    damaged = next(position for position, header in segment.batches() if header.base_offset > 110)
    content[damaged + 16] = 9
    segment.files.log.write_bytes(content)
    log.truncate_to(143)
    assert last_batches(log._producers.state) == {7: (0, 139, 142), 9: (0, 2, 2)}
