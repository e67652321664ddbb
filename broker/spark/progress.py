"""What a running job shows of itself: `progress.json` in its directory, written again every second, always whole.

`heartbeat_ms` says when; a reader that finds it old knows that the job is not running, whatever `state` says. `recent`
is the last minutes, a point every RECENT_EVERY_MS, and `dead_records` how many the job could not use since it was first
started: both are carried over from driver to driver.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from broker.common.clock import Clock
from broker.common.types import TopicPartition
from broker.spark.dead_letters import records_read
from broker.spark.offsets import OffsetJson, from_json

FILE_NAME = "progress.json"
RECENT_EVERY_MS = 2_000
#: Five minutes.
RECENT_POINTS = 150


class ProgressFile:
    def __init__(self, directory: Path, clock: Clock, job: str):
        self._path = directory / FILE_NAME
        self._clock = clock
        earlier = _read(self._path)
        self._facts: dict[str, Any] = {
            "job": job,
            "pid": os.getpid(),
            "started_ms": clock.now_ms(),
            "recent": earlier.get("recent") or [],
            "dead_records": earlier.get("dead_records") or 0,
        }

    def write(self, state: str, **facts: Any) -> None:
        """Write the progress. `state`: starting, running, waiting, stopped or failed. Facts given once stay;
        `waiting_for` is of now.
        """
        self._facts |= {"waiting_for": ""} | facts | {"state": state, "heartbeat_ms": self._clock.now_ms()}
        fresh = self._path.with_name(f"{FILE_NAME}.new")
        fresh.write_text(json.dumps(self._facts))
        fresh.replace(self._path)

    def add_dead(self, records: int) -> int:
        """Add dead letters to the next write, and return their total."""
        dead: int = self._facts["dead_records"] + records
        self._facts["dead_records"] = dead
        return dead

    def add_point(self, point: dict[str, Any]) -> None:
        """Add a point to the recent ones; the next write of the report stores it."""
        self._facts["recent"] = [*self._facts["recent"], point][-RECENT_POINTS:]


def _read(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def progress_facts(progress: dict[str, Any] | None) -> dict[str, Any]:
    """Return the facts to show of Spark's report on the last batch (StreamingQueryProgress as JSON), if there
    is one.
    """
    if progress is None:
        return {}
    operators = progress.get("stateOperators") or ()
    return {
        "query_id": progress.get("id"),
        "run_id": progress.get("runId"),
        "batch_id": progress.get("batchId"),
        "batch_at": progress.get("timestamp"),
        "input_rows": records_read(progress),
        "input_rows_per_second": progress.get("inputRowsPerSecond"),
        "processed_rows_per_second": progress.get("processedRowsPerSecond"),
        "duration_ms": progress.get("durationMs"),
        "watermark": (progress.get("eventTime") or {}).get("watermark"),
        "state_rows": sum(operator.get("numRowsTotal", 0) for operator in operators),
        "state_bytes": sum(operator.get("memoryUsedBytes", 0) for operator in operators),
        "late_rows": sum(operator.get("numRowsDroppedByWatermark", 0) for operator in operators),
        "is_stateful": bool(operators),
        "sources": [
            {"start": source.get("startOffset"), "end": source.get("endOffset"), "latest": source.get("latestOffset")}
            for source in progress.get("sources") or ()
        ],
    }


def read_up_to(progress: Mapping[str, Any] | None) -> dict[TopicPartition, int]:
    """Return the next offset of each partition, by Spark's report; of sources that are no topics nothing is said."""
    positions: dict[TopicPartition, int] = {}
    for source in (progress or {}).get("sources") or ():
        if is_offsets(source.get("endOffset")):
            positions |= from_json(source["endOffset"])
    return positions


def is_offsets(document: object) -> bool:
    """Return whether it is an `OffsetJson`: Spark's sources have offsets of forms of their own."""
    return isinstance(document, dict) and all(isinstance(partitions, dict) for partitions in document.values())


def lag_by_partition(position: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> OffsetJson:
    """Return the offsets between the job's position and each end; a partition not begun counts whole."""
    lags: OffsetJson = {}
    for partition in sorted(ends):
        behind = max(0, ends[partition] - position.get(partition, 0))
        lags.setdefault(partition.topic, {})[str(partition.partition)] = behind
    return lags


def rows_after(batch: int, reports: Iterable[dict[str, Any]]) -> int:
    """Return the rows read by the batches behind `batch`."""
    return sum(records_read(report) for report in reports if report.get("batchId", -1) > batch)
