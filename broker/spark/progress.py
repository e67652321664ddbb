"""What a running job shows of itself: `progress.json` in its directory, written again every second, always whole.

`heartbeat_ms` says when; a reader that finds it old knows that the job is not running, whatever `state` says.
"""

import json
import os
from pathlib import Path
from typing import Any

from broker.common.clock import Clock

FILE_NAME = "progress.json"


class ProgressFile:
    def __init__(self, directory: Path, clock: Clock, job: str):
        self._path = directory / FILE_NAME
        self._clock = clock
        self._facts = {"job": job, "pid": os.getpid(), "started_ms": clock.now_ms()}

    def write(self, state: str, **facts: Any) -> None:
        """`state`: starting, running, stopped or failed. Facts given once stay."""
        self._facts |= facts | {"state": state, "heartbeat_ms": self._clock.now_ms()}
        fresh = self._path.with_name(f"{FILE_NAME}.new")
        fresh.write_text(json.dumps(self._facts))
        fresh.replace(self._path)


def progress_facts(progress: dict[str, Any] | None) -> dict[str, Any]:
    """What is worth showing of Spark's report on the last batch (StreamingQueryProgress as JSON), if there was one."""
    if progress is None:
        return {}
    operators = progress.get("stateOperators") or ()
    return {
        "query_id": progress.get("id"),
        "run_id": progress.get("runId"),
        "batch_id": progress.get("batchId"),
        "batch_at": progress.get("timestamp"),
        "input_rows": progress.get("numInputRows"),
        "input_rows_per_second": progress.get("inputRowsPerSecond"),
        "processed_rows_per_second": progress.get("processedRowsPerSecond"),
        "duration_ms": progress.get("durationMs"),
        "watermark": (progress.get("eventTime") or {}).get("watermark"),
        "state_rows": sum(operator.get("numRowsTotal", 0) for operator in operators),
        "late_rows": sum(
            operator.get("numRowsDroppedByWatermark", 0) for operator in progress.get("stateOperators") or ()
        ),
        "sources": [
            {"start": source.get("startOffset"), "end": source.get("endOffset"), "latest": source.get("latestOffset")}
            for source in progress.get("sources") or ()
        ],
    }
