"""Random writes, passes, stops and time against dicts: exactly the records that should be left are left."""

import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from broker.log.compaction.offset_map import SLOT_BYTES
from broker.records.batch import Compression
from tests.broker.log.compaction.conftest import CompactedLog
from tests.examples import examples

RETENTION = 1_000
KEYS = st.sampled_from([None, b"", *(b"%d" % number for number in range(7))])
#: Four of the largest, of which no codec makes less, fit into a batch of max.message.bytes.
VALUES = st.sampled_from([None, None, b"", b"x", b"y" * 50, bytes(range(200))])
BATCHES = st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=4)


class CompactionAgainstDicts(RuleBasedStateMachine):
    """`present` is what the log must hold, `ends` where an offset's batch ends, `horizons` when its tombstones go."""

    @initialize(map_keys=st.sampled_from([3, 8, 1_000]))
    def begin(self, map_keys):
        self.root = Path(tempfile.mkdtemp(prefix="barnabas-compaction-"))
        self.compacted = CompactedLog(self.root / "t-0", offset_map_bytes=map_keys * SLOT_BYTES)
        self.present: dict[int, tuple[bytes | None, bytes | None]] = {}
        self.ends: dict[int, int] = {}
        self.horizons: dict[int, int] = {}
        self.first_dirty_offset = 0

    def teardown(self):
        if hasattr(self, "root"):
            self.compacted.log.close()
            shutil.rmtree(self.root)

    @rule(batches=st.lists(BATCHES, min_size=2, max_size=6), codec=st.sampled_from(Compression))
    def append(self, batches, codec):
        for pairs in batches:
            self._append(pairs, codec)

    def _append(self, pairs, codec) -> None:
        base_offset = self.compacted.append(*pairs, compression=codec)
        for offset, pair in enumerate(pairs, start=base_offset):
            self.present[offset], self.ends[offset] = pair, base_offset + len(pairs)

    def _seal(self) -> None:
        before = self.compacted.log.log_end_offset
        self.compacted.seal()
        for offset in range(before, self.compacted.log.log_end_offset):
            self.present[offset], self.ends[offset] = self.compacted.written[offset], offset + 1

    @rule(
        is_sealed=st.sampled_from([True, True, False]),
        wait_ms=st.sampled_from([0, 1, RETENTION - 1, RETENTION]),
        share=st.sampled_from([1, 1, 1, 0.7, 0.3]),
    )
    def clean(self, is_sealed, wait_ms, share):
        """Once that much time has passed, with that share of the log below the high watermark."""
        if is_sealed:
            self._seal()
        self.compacted.clock.advance(wait_ms)
        high_watermark = round(share * self.compacted.log.log_end_offset)
        stats = self.compacted.clean(end_offset_max=high_watermark)
        assert self.compacted.cleaner.uncleanable == {}
        if stats is None:
            return
        assert self.first_dirty_offset == stats.first_dirty_offset < stats.end_offset <= high_watermark
        self.first_dirty_offset = stats.end_offset
        self._compact_model(stats.end_offset, self.compacted.clock.now_ms())
        self.exactly_the_right_records_are_left()

    def _compact_model(self, end_offset: int, now_ms: int) -> None:
        """The rule itself: the last of each key below the end stays, tombstones until the horizon of their batch."""
        latest = {key: offset for offset, (key, _) in sorted(self.present.items()) if offset < end_offset}
        kept = {
            offset: (key, value)
            for offset, (key, value) in self.present.items()
            if offset >= end_offset
            or (key is not None and latest[key] == offset and not self._is_expired(offset, value, now_ms))
        }
        for offset, (_, value) in kept.items():
            if value is None and self.ends[offset] <= end_offset:
                self.horizons.setdefault(self.ends[offset], now_ms + RETENTION)
        self.present = kept

    def _is_expired(self, offset: int, value: bytes | None, now_ms: int) -> bool:
        horizon_ms = self.horizons.get(self.ends[offset])
        return value is None and horizon_ms is not None and now_ms >= horizon_ms

    @rule()
    def restart(self):
        self.compacted.log.close()
        self.compacted.cleaner = self.compacted.new_cleaner()
        self.compacted.open()
        self.exactly_the_right_records_are_left()

    def exactly_the_right_records_are_left(self):
        assert {record.offset: (record.key, record.value) for record in self.compacted.records()} == self.present

    @invariant()
    def no_offset_is_given_twice(self):
        if hasattr(self, "root"):
            assert self.compacted.log.log_end_offset == len(self.compacted.written)


CompactionAgainstDicts.TestCase.settings = settings(max_examples=examples(25), stateful_step_count=25)
TestCompactionAgainstDicts = CompactionAgainstDicts.TestCase


@pytest.mark.parametrize("map_keys", [10, 1_000])
def test_long_life_of_a_compacted_log_follows_the_rule(map_keys):
    """The same against the same, in many passes one after another, where hypothesis prefers short lives."""
    chance, life = random.Random(map_keys), CompactionAgainstDicts()
    keys = [None, *(b"%d" % number for number in range(12))]
    values = [None, b"", b"x" * 20, b"y" * 200]
    life.begin(map_keys)
    try:
        for _ in range(40):
            pairs = [[(chance.choice(keys), chance.choice(values)) for _ in range(chance.randint(1, 5))]]
            life.append(pairs * chance.randint(1, 4), chance.choice(list(Compression)))
            if chance.random() < 0.2:
                life.restart()
            life.clean(chance.random() < 0.7, chance.choice([0, 1, RETENTION - 1, RETENTION]), chance.random() ** 0.3)
        assert len(life.present) < len(life.compacted.written) / 2
        assert life.horizons
    finally:
        life.teardown()
