"""Random appends, fetches, reads, deletions, cuts, stops and look-ups by time and epoch against a list."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.retention import plan_retention
from broker.records.batch import Compression, check_produced_batch, iterate_headers, patch_batch
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records
from tests.examples import examples

CONFIG = LogConfig(segment_bytes=1_500, index_interval_bytes=150, max_message_bytes=1_500)
VALUES = st.lists(st.tuples(st.integers(0, 500), st.binary(max_size=60)), min_size=1, max_size=5)


class LogAgainstList(RuleBasedStateMachine):
    """`records` is all that was appended, with its epochs; `start` what is left of it; `ends` where batches end."""

    def __init__(self):
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="barnabas-log-"))
        self.log = Log.open(self.root / "t-0", CONFIG)
        self.records: list[tuple[int, bytes]] = []
        self.epochs: list[int] = []
        self.start = 0
        self.ends = [0]

    def teardown(self):
        self.log.close()
        shutil.rmtree(self.root)

    @rule(values=VALUES, compression=st.sampled_from([Compression.NONE, Compression.LZ4]), term=st.integers(0, 3))
    def append(self, values, compression, term):
        batch = build_batch([Record(0, time, None, value) for time, value in values], compression=compression)
        check_produced_batch(batch)
        epoch = (self.epochs[-1] if self.epochs else 0) + (term == 3)
        result = self.log.append(batch, epoch)
        assert (result.base_offset, result.last_offset) == (len(self.records), len(self.records) + len(values) - 1)
        self.records += values
        self.epochs += [epoch] * len(values)
        self.ends.append(len(self.records))

    @rule(
        batches=st.lists(st.tuples(VALUES, st.booleans()), min_size=1, max_size=6),
        repeated=st.integers(0, 4),
        cut=st.integers(0, 60),
    )
    def append_as_follower(self, batches, repeated, cut):
        """Some batches that are here already, some new ones, and perhaps the beginning of one more."""
        places = list(zip(self.ends, self.ends[1:], strict=False))[-repeated:] if repeated else []
        places = [(start, end) for start, end in places if start >= self.start]
        fetched = b"".join(self.batch(start, self.records[start:end], self.epochs[start]) for start, end in places)
        offset, epoch = len(self.records), self.epochs[-1] if self.epochs else 0
        for values, is_new_term in batches:
            epoch += is_new_term
            fetched += self.batch(offset, values, epoch)
            offset += len(values)
            self.records += values
            self.epochs += [epoch] * len(values)
            self.ends.append(offset)
        fetched += self.batch(offset, [(0, b"x" * 60)], epoch)[:cut]
        assert self.log.append_as_follower(memoryview(fetched)) == offset

    @staticmethod
    def batch(base_offset, values, epoch) -> bytes:
        batch = build_batch([Record(0, time, None, value) for time, value in values])
        patch_batch(batch, 0, base_offset, epoch)
        return bytes(batch)

    @rule(data=st.data())
    def truncate(self, data):
        offset = data.draw(st.integers(self.log.segments[0].base_offset, len(self.records) + 2))
        self.log.truncate_to(offset)
        self.ends = [end for end in self.ends if end <= offset]
        self.records, self.epochs = self.records[: self.ends[-1]], self.epochs[: self.ends[-1]]
        self.start = min(self.start, len(self.records))

    @rule(offset=st.integers(0, 1_000))
    def follow_log_start(self, offset):
        self.log.follow_log_start(offset)
        self.start = max(self.start, min(offset, len(self.records)))

    @rule(stop=st.sampled_from(["clean", "kill", "torn"]), cut=st.integers(1, 60))
    def reopen(self, stop, cut):
        if stop == "clean":
            self.log.flush()
            self.log.store_clean_state()
        known = {"recovery_point": self.log.recovery_point, "log_start_offset": self.log.log_start_offset}
        self.log.close()
        if stop == "torn":
            with sorted(self.log.directory.glob("*.log"))[-1].open("ab") as file:
                file.write(build_batch([Record(0, 0, None, b"x" * 30)], base_offset=len(self.records))[:-cut])
        self.log = Log.open(self.log.directory, CONFIG, is_clean=stop == "clean", **known)

    @rule()
    def flush(self):
        self.log.flush()
        assert self.log.recovery_point == len(self.records)

    @rule(data=st.data())
    def delete_records(self, data):
        target = data.draw(st.integers(0, len(self.records)))
        self.start = max(self.start, target)
        assert self.log.delete_records(target, len(self.records)) == self.start

    @rule(retention_bytes=st.integers(0, 6_000), data=st.data())
    def retain(self, retention_bytes, data):
        config = LogConfig(retention_ms=-1, retention_bytes=retention_bytes)
        high_watermark = data.draw(st.integers(0, len(self.records)))
        plan = plan_retention(self.log.retention_facts(), config, self.log.log_start_offset, high_watermark, 0)
        size = self.log.size_bytes
        if self.log.roll_expired(plan):
            self.log.flush()
        assert self.log.apply(plan) == plan.size_bytes == size - self.log.size_bytes
        self.start = plan.log_start_offset
        assert self.start <= max(high_watermark, self.log.log_start_offset)
        self.log.purge_segments(data.draw(st.integers(0, 10**6)))

    @rule(data=st.data(), max_bytes=st.integers(0, 2_000), at_least_one=st.booleans())
    def read(self, data, max_bytes, at_least_one):
        fetch_offset = data.draw(st.integers(self.start, len(self.records)))
        end_offset = data.draw(st.integers(0, len(self.records)))
        records_read = self.log.read(fetch_offset, max_bytes, end_offset, at_least_one=at_least_one).read()
        batches = [decode_records(records_read[at:]) for at, _ in iterate_headers(records_read)]
        records = [record for batch in batches for record in batch]
        assert [(r.timestamp_ms, r.value) for r in records] == [self.records[r.offset] for r in records]
        assert len(records_read) <= max_bytes or (at_least_one and len(batches) == 1)
        if not records:
            visible_end = max(end for end in self.ends if end <= end_offset)
            assert fetch_offset >= visible_end or not at_least_one
            return
        assert [r.offset for r in records] == list(range(records[0].offset, records[-1].offset + 1))
        assert records[0].offset == max(end for end in self.ends if end <= fetch_offset)
        assert records[-1].offset < end_offset

    @rule(timestamp=st.integers(0, 501))
    def look_up_time(self, timestamp):
        left = [(offset, time) for offset, (time, _) in enumerate(self.records) if offset >= self.start]
        assert self.log.offset_for_timestamp(timestamp) == next((item for item in left if item[1] >= timestamp), None)

    @rule()
    def look_up_epochs(self):
        epochs = [self.log.leader_epoch_at(offset) for offset in range(self.start, len(self.records))]
        assert epochs == self.epochs[self.start :]

    @invariant()
    def log_end_is_the_number_of_records(self):
        assert (self.log.log_start_offset, self.log.log_end_offset) == (self.start, len(self.records))
        assert self.log.recovery_point <= self.log.log_end_offset

    @invariant()
    def newest_time_is_that_of_a_record_there_or_of_an_older_one_still_on_disk(self):
        largest = max((time for time, _ in self.records[self.start :]), default=None)
        newest = self.log.max_timestamp_offset()
        assert largest is None or newest is not None
        if newest is not None:
            offset, time = newest
            assert time == self.records[offset][0]
            assert largest is None or time == largest or (time > largest and offset < self.start)


LogAgainstList.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=40)
TestLogAgainstList = LogAgainstList.TestCase
