"""`kafka-dump-log` and `python -m broker dump-log`, as a person calls them: one implementation."""

import json
from pathlib import Path

import pytest

from broker.cli.dump_log import main
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.typed import typed


@pytest.fixture
def segment(tmp_path) -> Path:
    log = Log.open(tmp_path / "t-0", LogConfig())
    log.append(build_batch([Record(0, 1_000, b"k", b"hello"), Record(0, 1_000, b"\0\0\0\1", b"\0" * 8)]), 0)
    log.close()
    return tmp_path / "t-0" / f"{0:020d}.log"


def test_files_are_dumped_one_after_another_and_records_only_if_asked(segment):
    index = segment.with_suffix(".index")
    both = typed("kafka-dump-log", "--files", f"{segment},{index}")
    head, start, batch, head_of_index, empty = both.out.splitlines()
    assert (head, start) == (f"Dumping {segment}", "Log starting offset: 0")
    assert batch.startswith("baseOffset: 0 lastOffset: 1 count: 2 ")
    assert (head_of_index, empty) == (f"Dumping {index}", f"{index} is empty.")
    assert (both.status, both.err) == (0, "")
    printed = typed("kafka-dump-log", "--print-data-log", "--files", str(segment))
    assert " headerKeys: [] key: k payload: hello\n" in printed.out
    assert "payload" not in typed("kafka-dump-log", "--deep-iteration", "--files", str(segment)).out


def test_keys_and_values_are_shown_as_their_decoders_read_them(segment):
    shown = typed(
        "kafka-dump-log", "--print-data-log", "--files", str(segment),
        "--key-decoder-class", "kafka.serializer.IntegerDecoder",
        "--value-decoder-class", "org.apache.kafka.common.serialization.LongDeserializer",
    )  # fmt: skip
    assert shown.out.endswith(" key: 1 payload: 0\n")
    assert " key: <1 bytes, not 4> payload: <5 bytes, not 8>\n" in shown.out


def test_damage_is_named_and_only_our_own_spelling_makes_it_a_status(segment, capsys):
    with segment.open("ab") as file:
        file.write(b"torn")
    finding = f"Found 4 invalid bytes at the end of {segment.name}\n"
    dumped = typed("kafka-dump-log", "--files", str(segment))
    assert (dumped.status, dumped.err) == (0, "")
    assert dumped.out.endswith(finding)
    assert main([str(segment), "--records"]) == 1
    assert finding in capsys.readouterr().out
    assert main([str(segment.with_suffix(".timeindex"))]) == 0


def test_what_is_none_of_a_partitions_files_is_one_sentence(segment, tmp_path):
    stranger = tmp_path / "server.log"
    stranger.write_text("text")
    for path, sentence in (
        (tmp_path / "missing.log", "cannot be read: No such file or directory."),
        (stranger, "is none of a partition's files: those are named by the offset they begin with."),
    ):
        refused = typed("kafka-dump-log", "--files", str(path))
        assert (refused.status, refused.err) == (1, f"{path} {sentence}\n")
    other = segment.parent / "partition.metadata"
    other.write_text("version: 0")
    ignored = typed("kafka-dump-log", "--files", str(other))
    assert (ignored.status, ignored.err) == (0, f"Ignoring unknown file {other}\n")
    assert typed("kafka-dump-log", "--deep-iteration").err.startswith('Missing required argument "[files]"')


def test_as_json_each_batch_and_record_is_an_object_on_its_own_line(segment):
    with segment.open("ab") as file:
        file.write(b"torn")
    arguments = ("--output", "json", "--print-data-log", "--files", f"{segment},{segment.with_suffix('.index')}")
    dumped = typed("kafka-dump-log", *arguments)
    start, batch, one, _, end, index = map(json.loads, dumped.out.splitlines())
    assert start == {"file": str(segment), "logStartingOffset": 0}
    assert (batch["count"], batch["isTransactional"], batch["deleteHorizonMs"]) == (2, False, None)
    assert (one["offset"], one["headerKeys"], one["key"], one["payload"]) == (0, [], "k", "hello")
    assert end == {"file": str(segment), "invalidBytes": 4, "position": batch["size"]}
    assert index == {"file": str(segment.with_suffix(".index")), "entries": 0}
