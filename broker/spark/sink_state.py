"""What a query keeps in its checkpoint to write each record of a batch once: who it is, and where each batch began.

Before the first record of batch N is sent, `batch-N.json` holds the end offsets of the output topic. A batch that has
such a file may have been written in part; everything of it lies behind those offsets.
"""

import json
import os
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from broker.spark.offsets import Offsets, from_json, to_json

#: Headers of every record the sink writes.
QUERY_HEADER, BATCH_HEADER = "barnabas.query", "barnabas.batch"

#: Spark repeats at most the newest batch; a few more are kept for a person who looks.
BATCH_FILES_KEPT = 5


#: Key and value: what tells a record of a batch from another.
Content = tuple[bytes | None, bytes | None]


class OutputRecord(NamedTuple):
    """One record to be written."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


class SinkState:
    """The sink's directory in one query's checkpoint; one process uses it at a time."""

    def __init__(self, directory: Path):
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        identity = directory / "query"
        if not identity.exists():
            _write_whole(identity, str(uuid.uuid4()))
        self.query = identity.read_text()

    def begin_offsets(self, batch: int) -> Offsets | None:
        """Where the output topic ended before the batch was first tried; None when it never was."""
        try:
            return from_json(json.loads(self._file(batch).read_text()))
        except FileNotFoundError:
            return None

    def begin(self, batch: int, offsets: Offsets) -> None:
        """On disk when this returns. Forgets batches that Spark can no longer repeat."""
        _write_whole(self._file(batch), json.dumps(to_json(offsets)))
        for old in self._directory.glob("batch-*.json"):
            if int(old.stem.removeprefix("batch-")) <= batch - BATCH_FILES_KEPT:
                old.unlink()

    def _file(self, batch: int) -> Path:
        return self._directory / f"batch-{batch}.json"


def marked(record: OutputRecord, query: str, batch: int) -> list[tuple[str, bytes]]:
    """The headers a record is written with."""
    return [*record.headers, (QUERY_HEADER, query.encode()), (BATCH_HEADER, str(batch).encode())]


def is_marked(headers: Iterable[tuple[str, bytes | None]] | None, query: str, batch: int) -> bool:
    """Whether a record read back was written for this batch of this query."""
    found: Mapping[str, bytes | None] = dict(headers or ())
    return found.get(QUERY_HEADER) == query.encode() and found.get(BATCH_HEADER) == str(batch).encode()


def missing(records: list[OutputRecord], written: Counter[Content]) -> list[OutputRecord]:
    """The records not among those read back, in order; of records that are the same, as many as are missing.

    A repeated batch has the same records. Should it not (Spark's own log was lost with the machine), the records of the
    repetition are written too.
    """
    there, left = Counter(written), []
    for record in records:
        if there[record.key, record.value] > 0:
            there[record.key, record.value] -= 1
        else:
            left.append(record)
    return left


def _write_whole(path: Path, text: str) -> None:
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
