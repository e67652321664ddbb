"""What may run on a worker thread does so while the owner appends and lets go of segments."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.retention import plan_retention

CONFIG = LogConfig(segment_bytes=4_000, index_interval_bytes=300, retention_ms=-1, file_delete_delay_ms=0)


@pytest.fixture
def log(tmp_path):
    return Log.open(tmp_path / "t-0", CONFIG)


def test_flushes_look_ups_and_purges_run_beside_appends_and_deletions(log, batch_of, records_of):
    is_over = Event()

    def work() -> int:
        rounds = 0
        while not is_over.is_set():
            log.flush()
            asked = max(0, log.log_end_offset - 60)
            found = log.offset_for_timestamp(asked)
            assert found is None or found[0] >= asked
            log.max_timestamp_offset()
            log.retention_facts()
            log.purge_segments(rounds)
            rounds += 1
        return rounds

    with ThreadPoolExecutor(1) as workers:
        working = workers.submit(work)
        try:
            for offset in range(6_000):
                log.append(batch_of(b"%d" % offset, timestamp_ms=offset), offset // 500)
                if offset % 200 == 199:
                    config = LogConfig(retention_ms=-1, retention_bytes=30_000)
                    facts = log.retention_facts()
                    log.apply(plan_retention(facts, config, log.log_start_offset, log.log_end_offset, 0))
        finally:
            is_over.set()
        assert working.result(timeout=60) > 0
    start = log.log_start_offset
    expected = [(offset, b"%d" % offset) for offset in range(start, 6_000)]
    assert records_of(log) == expected
    log.flush()
    again = Log.open(log.directory, CONFIG, recovery_point=log.recovery_point)
    assert records_of(again) == expected
    assert [again.leader_epoch_at(offset) for offset in range(start, 6_000)] == [
        offset // 500 for offset in range(start, 6_000)
    ]
