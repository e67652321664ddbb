"""A checkpoint says where the job goes on: behind what was finished, not behind what was begun."""

import pytest

from broker.common.types import TopicPartition
from broker.spark.checkpoint import QueryCheckpoint, read_checkpoint

METADATA = '{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{}}'


@pytest.fixture
def checkpoint(tmp_path):
    def write(offsets: dict[int, list[str]], commits: list[int], version: str = "v1") -> None:
        for kind in ("offsets", "commits"):
            (tmp_path / "checkpoint" / kind).mkdir(parents=True)
        for batch, sources in offsets.items():
            text = "\n".join([version, METADATA, *sources])
            (tmp_path / "checkpoint" / "offsets" / str(batch)).write_text(text)
        for batch in commits:
            (tmp_path / "checkpoint" / "commits" / str(batch)).write_text("v1\n{}")
        (tmp_path / "checkpoint" / "commits" / ".9.crc").write_text("")

    return write


def test_batch_that_was_not_finished_is_done_again(tmp_path, checkpoint):
    checkpoint({9: ['{"t":{"0":5}}'], 10: ['{"t":{"0":7}}'], 11: ['{"t":{"0":9}}']}, [9, 10])
    assert read_checkpoint(tmp_path) == QueryCheckpoint(10, {TopicPartition("t", 0): 7})


def test_sources_are_put_together_and_files_are_left_out(tmp_path, checkpoint):
    checkpoint({0: ['{"a":{"0":5,"1":6}}', '{"b":{"0":1}}', '{"logOffset":3}', "-"]}, [0])
    offsets = read_checkpoint(tmp_path).offsets
    assert {str(partition): offset for partition, offset in offsets.items()} == {"a-0": 5, "a-1": 6, "b-0": 1}


def test_without_a_finished_batch_nothing_was_read(tmp_path, checkpoint):
    assert read_checkpoint(tmp_path) is None
    checkpoint({0: ['{"t":{"0":5}}']}, [])
    assert read_checkpoint(tmp_path) == QueryCheckpoint(-1, {})


@pytest.mark.parametrize("text", ["", "v1", "v9\n{}\n{}", "v1\n{}\nnot json"])
def test_what_is_not_understood_is_not_guessed(tmp_path, checkpoint, text):
    checkpoint({}, [0])
    (tmp_path / "checkpoint" / "offsets" / "0").write_text(text)
    assert read_checkpoint(tmp_path) is None
