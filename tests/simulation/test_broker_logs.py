"""Of holes in logs the checker expects those that a power cut has left, and no others."""

import pytest
import structlog

from broker.common.logs import logger
from tests.simulation.broker_logs import ignore_logs, record_logs
from tests.simulation.broker_process import _shortened_logs
from tests.simulation.history import History
from tests.simulation.timeline import Timeline


@pytest.mark.parametrize("may_lack_offsets", [True, False])
def test_a_hole_is_a_violation_where_no_power_cut_has_left_one(may_lack_offsets):
    history, logs = History(Timeline()), []
    record_logs(history, "/tmp/run", lambda _: False, lambda log: logs.append(log) or may_lack_offsets)
    try:
        logger(__name__).error(
            "offsets are missing before or between segments: …", directory="/tmp/run/broker-2/life-2/orders-2"
        )
    finally:
        ignore_logs()
        structlog.reset_defaults()
    assert logs == ["/broker-2/life-2/orders-2"]
    assert bool(history.violations) is not may_lack_offsets


def test_a_log_is_shortened_whose_inner_segment_lost_its_end(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    for name, contents in {"whole-0": "ab", "last-0": "ab", "inner-0": "ab", "missing-0": "ab"}.items():
        for root in (before, after):
            (root / name).mkdir(parents=True)
            for number, content in enumerate(contents):
                (root / name / f"{number:020d}.log").write_text(content)
    (after / "last-0" / f"{1:020d}.log").write_text("")
    (after / "inner-0" / f"{0:020d}.log").write_text("")
    (after / "missing-0" / f"{0:020d}.log").unlink()
    assert _shortened_logs(before, after) == {"inner-0", "missing-0"}
