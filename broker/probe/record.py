"""A record of the probe: who wrote it, in which life, as its how-manieth in the partition, and when. Pure."""

import json
from typing import NamedTuple

from broker.records.builder import build_batch
from broker.records.record import Record

#: Bytes of a value, about as many as Kafka Monitor's (`produce.record.size.byte`).
VALUE_BYTES = 120


class ProbeMark(NamedTuple):
    """`run` names one life of one probe; `number` counts from 0 in each partition, that it was written to first."""

    run: str
    partition: int
    number: int


def encode(mark: ProbeMark, now_ms: int) -> bytearray:
    """Encode a batch of one record, not yet given an offset."""
    content = {"run": mark.run, "partition": mark.partition, "index": mark.number, "time": now_ms, "content": ""}
    content["content"] = "x" * max(0, VALUE_BYTES - len(json.dumps(content)))
    return build_batch([Record(0, now_ms, None, json.dumps(content).encode(), ())])


def decode(value: bytes | None) -> ProbeMark | None:
    """Decode a mark; None for a record that no probe wrote."""
    try:
        document = json.loads(value or b"")
        return ProbeMark(str(document["run"]), int(document["partition"]), int(document["index"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
