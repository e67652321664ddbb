"""Where a job goes on, read from Spark's checkpoint without Spark: the offsets behind the last batch that was finished.

Spark writes `offsets/N` before batch N (a line of version, one of metadata, one for each source) and `commits/N` after
it. A batch that was begun and not finished is done again, from where the finished one before it ended.

It is only read here: `job.py` refuses a second driver of the directory, `ledger.py` an older copy of the checkpoint.
"""

import json
from pathlib import Path
from typing import NamedTuple

from broker.spark.offsets import Offsets, from_json
from broker.spark.progress import is_offsets

_VERSION = "v1"
#: A file of offsets is this large at most; more is none of ours.
_FILE_BYTES_MAX = 16 * 1024 * 1024


class QueryCheckpoint(NamedTuple):
    """`batch` is the last finished one, -1 if none is; `offsets` are the next to be read."""

    batch: int
    offsets: Offsets


def read_checkpoint(directory: Path) -> QueryCheckpoint | None:
    """Read a query's checkpoint; None if there is none below the job's `directory`, or it is malformed."""
    root = directory / "checkpoint"
    if not (root / "offsets").is_dir():
        return None
    finished = _newest(root / "commits")
    if finished < 0:
        return QueryCheckpoint(-1, {})
    offsets = _read_offsets(root / "offsets" / str(finished))
    return None if offsets is None else QueryCheckpoint(finished, offsets)


def _newest(directory: Path) -> int:
    names = (path.name for path in directory.iterdir()) if directory.is_dir() else ()
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def _read_offsets(path: Path) -> Offsets | None:
    try:
        if path.stat().st_size > _FILE_BYTES_MAX:
            return None
        version, _metadata, *sources = path.read_text().splitlines()
        documents = [json.loads(line) for line in sources if line != "-"]
        offsets: Offsets = {}
        for document in documents:
            offsets |= from_json(document) if is_offsets(document) else {}
    except (OSError, ValueError):
        return None
    return offsets if version == _VERSION else None
