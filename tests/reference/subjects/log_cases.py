"""Draws logs for the comparison with Kafka's storage: batches of every kind, damage, checkpoints."""

import random
from typing import Any

NOW_MS = 1_764_403_200_000
_CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
_DAMAGE = ["cut", "flip", "zeros", "junk", "lose"]
_SUFFIXES = ["index", "timeindex", "txnindex"]


class LogMaker:
    """Draws the batches of one log; `is_compacted`: keys come again, and some records have no value."""

    def __init__(self, drawn: random.Random, *, is_compacted: bool = False):
        self._drawn, self._is_compacted = drawn, is_compacted
        self._sequences: dict[int, int] = {}
        self._open: set[int] = set()
        self._leader_epoch = drawn.randrange(3)
        self._now_ms = NOW_MS - drawn.randrange(3_600_000)

    def batches(self, count: int) -> list[dict[str, Any]]:
        return [self._batch() for _ in range(count)]

    def end(self) -> list[dict[str, Any]]:
        """Return the markers of all transactions, a record, and a batch so late that it begins a segment of its own."""
        ending = [self._marker() | {"epoch": self._leader_epoch} for _ in sorted(self._open)]
        ending.append({"epoch": self._leader_epoch, "records": [[self._now_ms, "y", "y"]]})
        return [*ending, {"epoch": self._leader_epoch, "records": [[self._now_ms + 8 * 86_400_000, "z", "z"]]}]

    def _batch(self) -> dict[str, Any]:
        drawn = self._drawn
        if drawn.random() < 0.1:
            self._leader_epoch += drawn.randrange(1, 3)
        self._now_ms += drawn.randrange(-2_000, 3_000)
        batch: dict[str, Any] = {"epoch": self._leader_epoch}
        if self._open and drawn.random() < 0.35:
            return batch | self._marker()
        if drawn.random() < 0.1:
            batch["skip"] = drawn.randrange(1, 4)
        batch["records"] = [self._record() for _ in range(drawn.choice([1, 1, 2, 3, 8]))]
        if drawn.random() < 0.5:
            batch["codec"] = drawn.choice(_CODECS)
        if drawn.random() < 0.1:
            batch["append_ms"] = self._now_ms
        if drawn.random() < 0.6:
            batch |= self._producer(len(batch["records"]))
            # Kafka forgets a producer whose records have no times.
            batch["records"] = [[max(record[0], NOW_MS - 3_600_000), *record[1:]] for record in batch["records"]]
        if drawn.random() < 0.06:
            batch["is_empty"] = True
            batch.pop("codec", None)
        return batch

    def _record(self) -> list[Any]:
        drawn = self._drawn
        timestamp = -1 if drawn.random() < 0.03 else self._now_ms + drawn.randrange(-50, 50)
        if self._is_compacted:
            value = None if drawn.random() < 0.3 else "v" * drawn.randrange(40)
            return [timestamp, drawn.choice("abcdef"), value]
        key = drawn.choice([None, "", "k", "key"])
        value = drawn.choice([None, "", "v", "x" * drawn.randrange(100)])
        headers = [["h", drawn.choice([None, "", "w"])] for _ in range(drawn.choice([0, 0, 0, 1, 2]))]
        return [timestamp, key, value, headers] if headers else [timestamp, key, value]

    def _producer(self, records_count: int) -> dict[str, Any]:
        drawn = self._drawn
        producer_id = drawn.randrange(1, 5)
        sequence = self._sequences.get(producer_id, drawn.choice([0, 0, 2**31 - 3]))
        self._sequences[producer_id] = (sequence + records_count) % 2**31
        batch = {"producer": producer_id, "sequence": sequence}
        if producer_id in self._open or drawn.random() < 0.5:
            self._open.add(producer_id)
            batch["is_transactional"] = True
        return batch

    def _marker(self) -> dict[str, Any]:
        producer_id = self._drawn.choice(sorted(self._open))
        self._open.discard(producer_id)
        kind = self._drawn.choice(["abort", "commit"])
        return {"producer": producer_id, "marker": kind, "now": self._now_ms, "coordinator": self._drawn.randrange(3)}


def _config(drawn: random.Random, *, segment_bytes: list[int]) -> dict[str, str]:
    return {
        "internal.segment.bytes": str(drawn.choice(segment_bytes)),
        "index.interval.bytes": str(drawn.choice([0, 100, 300, 4096])),
        "segment.index.bytes": "4800",
    }


def make_written(drawn: random.Random) -> dict:
    """A log that a follower copies batch by batch, with what it has to leave on disk."""
    return {
        "op": "log-written",
        "now": NOW_MS,
        "config": _config(drawn, segment_bytes=[1_300, 2_000, 100_000]),
        "log": LogMaker(drawn).batches(drawn.randrange(1, 20)),
    }


def make_opened(drawn: random.Random) -> dict:
    """Files that a stop has left, damaged or not, for whoever opens the log next."""
    maker = LogMaker(drawn)
    segments = [maker.batches(drawn.randrange(1, 6)) for _ in range(drawn.randrange(1, 4))]
    harms = [_harm(drawn, len(segments)) for _ in range(drawn.choice([0, 1, 1, 2]))]
    case = {
        "op": "log-opened",
        "now": NOW_MS,
        "config": _config(drawn, segment_bytes=[100_000]),
        "segments": segments,
        "harms": harms,
    }
    if drawn.random() < 0.3:
        case["recovery_point_segment"] = drawn.randrange(len(segments))
    return case


def _harm(drawn: random.Random, segments_count: int) -> list[Any]:
    kind = drawn.choice(_DAMAGE)
    segment, place = drawn.randrange(segments_count), drawn.randrange(1_000)
    if kind == "lose":
        return [kind, segment, place, drawn.choice(_SUFFIXES)]
    return [kind, segment, place, drawn.choice([1, 3, 40, 200])]


def make_compacted(drawn: random.Random) -> dict:
    """A log that is compacted once or twice, the second time when tombstones may go."""
    later = NOW_MS + drawn.choice([1, 5_000, 500_000])
    maker = LogMaker(drawn, is_compacted=True)
    log = maker.batches(drawn.randrange(4, 24)) + maker.end()
    return {
        "op": "log-compacted",
        "now": NOW_MS,
        "config": _config(drawn, segment_bytes=[700, 1_500, 4_000])
        | {"cleanup.policy": "compact", "delete.retention.ms": drawn.choice(["0", "1000", "100000"])},
        "log": log,
        "passes": [NOW_MS, later, *([later + 1_000_000] if drawn.random() < 0.5 else [])],
    }


def make_dumped(drawn: random.Random) -> dict:
    """A file of a log, for the tool that prints it."""
    maker = LogMaker(drawn)
    options = drawn.choice([[], ["--deep-iteration"], ["--print-data-log"], ["--print-data-log"]])
    if options and drawn.random() < 0.2:
        options = [*options, "--skip-record-metadata"]
    return {
        "op": "log-dumped",
        "now": NOW_MS,
        "config": _config(drawn, segment_bytes=[100_000]),
        "segments": [maker.batches(drawn.randrange(1, 8))],
        "harms": [_harm(drawn, 1)] if drawn.random() < 0.2 else [],
        "suffix": drawn.choice(["log", "log", "log", "index", "timeindex", "txnindex", "snapshot"]),
        "options": options,
    }


def make_checkpoint(drawn: random.Random) -> dict:
    """A small file, whole or changed in one place."""
    kind = drawn.choice(["offsets", "epochs", "metadata"])
    if kind == "metadata":
        topic_id = drawn.choice(["AAAAAAAAAAAAAAAAAAAAAA", "Sm9zZXBoQmFybmFiYXNDeQ", "Sm9z", "x" * 22, ""])
        lines = [f"version: {drawn.choice('00001')}", f"topic_id: {topic_id}"]
    else:
        count = drawn.randrange(4)
        rows = [_row(drawn, kind, number) for number in range(count)]
        lines = [drawn.choice("00000001"), str(count if drawn.random() < 0.85 else count + 1), *rows]
    text = "\n".join(lines) + "\n"
    if drawn.random() < 0.35:
        at = drawn.randrange(len(text))
        text = text[:at] + drawn.choice(["", " ", "\n", "x", "-", "\r\n", "_", "٣"]) + text[at + drawn.randrange(2) :]
    return {"op": "checkpoint", "kind": kind, "text": text}


def _row(drawn: random.Random, kind: str, number: int) -> str:
    offset = drawn.choice(["0", "7", "-1", "9223372036854775807", "9223372036854775808", "+5", "1_0", " 3", "007"])
    if drawn.random() < 0.8:
        offset = str(10 * number + drawn.randrange(10))
    if kind == "epochs":
        return f"{number + drawn.randrange(2)} {offset}"
    return f"{drawn.choice(['t', 'a.b', 'x-y', '__c'])} {drawn.choice(['0', '1', '12'])} {offset}"
