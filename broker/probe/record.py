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
    """A batch of one record, not yet given an offset."""
    told = {"run": mark.run, "partition": mark.partition, "index": mark.number, "time": now_ms, "content": ""}
    told["content"] = "x" * max(0, VALUE_BYTES - len(json.dumps(told)))
    return build_batch([Record(0, now_ms, None, json.dumps(told).encode(), ())])


def decode(value: bytes | None) -> ProbeMark | None:
    """None for what no probe wrote."""
    try:
        told = json.loads(value or b"")
        return ProbeMark(str(told["run"]), int(told["partition"]), int(told["index"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
