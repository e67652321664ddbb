import errno
import json

import pytest

from broker.connect.api import ConfigError, ConnectError, ConnectPartition, RetriableError
from broker.connect.api.schema import STRING
from broker.connect.plugins import paths
from broker.connect.plugins.file_sink import FileStreamSinkConnector, FileStreamSinkTask
from broker.connect.plugins.file_source import FileStreamSourceConnector, FileStreamSourceTask
from tests.broker.connect.plugins.runner import SinkContext, SourceContext, polled, sink_record, started


@pytest.fixture
def only_here(tmp_path):
    paths.allow([str(tmp_path)])
    yield tmp_path
    paths.allow(None)


def test_each_line_is_a_record_and_a_restarted_task_goes_on_behind_it(tmp_path):
    file = tmp_path / "test.txt"
    file.write_text("foo\nbar\n")
    context = SourceContext()
    props = {"file": str(file), "topic": "connect-test"}
    first = polled(started(FileStreamSourceTask(), props, context), 2)
    assert [(item.topic, item.value_schema, item.value) for item in first] == [
        ("connect-test", STRING, "foo"),
        ("connect-test", STRING, "bar"),
    ]
    assert first[0].source_partition == {"filename": str(file)}
    context.store(first[:1])
    with file.open("a") as more:
        more.write("baz\n")
    assert [property_.value for property_ in polled(started(FileStreamSourceTask(), props, context), 2)] == [
        "bar",
        "baz",
    ]


def test_an_offset_that_is_a_position_alone_is_kafkas_and_is_followed(tmp_path):
    file = tmp_path / "test.txt"
    file.write_text("foo\nbar\n")
    context = SourceContext([({"filename": str(file)}, {"position": 4})])
    task = started(FileStreamSourceTask(), {"file": str(file), "topic": "t"}, context)
    assert [item.value for item in polled(task, 1)] == ["bar"]


def test_an_offset_with_an_inode_and_no_checksum_counts_as_a_position_alone(tmp_path):
    file = tmp_path / "test.txt"
    file.write_text("foo\nbar\n")
    offset = {"position": 4, "inode": file.stat().st_ino}
    assert FileStreamSourceConnector().alter_offsets({"file": str(file)}, {json.dumps({"filename": str(file)}): offset})
    context = SourceContext([({"filename": str(file)}, offset)])
    task = started(FileStreamSourceTask(), {"file": str(file), "topic": "t"}, context)
    assert [item.value for item in polled(task, 1)] == ["bar"]


def test_a_poll_takes_no_more_than_its_batch_and_a_stopped_task_nothing(tmp_path):
    file = tmp_path / "test.txt"
    file.write_text("a\nb\nc\n")
    task = started(FileStreamSourceTask(), {"file": str(file), "topic": "t", "batch.size": "2"}, SourceContext())
    assert len(task.poll()) == 2
    task.stop()
    assert task.poll() == []


def test_offsets_can_be_set_to_a_position_and_to_nothing_else():
    connector, partition = FileStreamSourceConnector(), json.dumps({"filename": "a"})
    assert connector.alter_offsets({"file": "a"}, {partition: {"position": 3}})
    assert connector.alter_offsets({"file": "a"}, {partition: None})
    for props, offsets in (
        ({}, {partition: None}),
        ({"file": "a"}, {partition: {"position": -1}}),
        ({"file": "a"}, {partition: {"position": "x"}}),
        ({"file": "a"}, {'{"odd": 1}': None}),
    ):
        with pytest.raises(ConnectError):
            connector.alter_offsets(props, offsets)


def test_a_path_outside_of_what_is_allowed_is_refused_also_through_a_link(only_here):
    (only_here / "link").symlink_to("/etc")
    for name in ("/etc/passwd", f"{only_here}/../x", f"{only_here}/link/passwd"):
        with pytest.raises(ConfigError, match="outside"):
            started(FileStreamSourceTask(), {"file": name, "topic": "t"}, SourceContext())
        errors = {item.name: item.errors for item in FileStreamSinkConnector().validate({"file": name})}
        assert errors["file"]


def test_values_become_lines_behind_what_is_there(tmp_path):
    file = tmp_path / "test.sink.txt"
    file.write_text("before\n")
    task = started(FileStreamSinkTask(), {"file": str(file)}, SinkContext())
    task.put([sink_record(0, "foo"), sink_record(1, None), sink_record(2, {"a": 1})])
    assert task.pre_commit({ConnectPartition("t", 0): 3}) == {ConnectPartition("t", 0): 3}
    assert file.read_text() == 'before\nfoo\nnull\n{"a":1}\n'
    task.stop()


def test_a_file_that_cannot_be_written_is_told_at_the_start(tmp_path):
    with pytest.raises(ConnectError, match="Couldn't find or create"):
        started(FileStreamSinkTask(), {"file": str(tmp_path)}, SinkContext())


class SmallDisk:
    """A file on a disk with so much room."""

    def __init__(self, file, room):
        self._file, self.room, self.name = file, room, file.name

    def write(self, data):
        taken = bytes(data[: self.room])
        if not taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.room -= len(taken)
        return self._file.write(taken)

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.parametrize("room", range(12))
def test_a_full_disk_is_tried_again_and_neither_loses_nor_doubles_a_line(tmp_path, room):
    file = tmp_path / "test.sink.txt"
    task = started(FileStreamSinkTask(), {"file": str(file)}, SinkContext())
    task._file = disk = SmallDisk(task._file, room)
    records = [sink_record(0, "one"), sink_record(1, "two"), sink_record(2, "three")]
    for _ in range(2):
        with pytest.raises(RetriableError, match="No space left on device"):
            task.put(records)
    disk.room = 1000
    task.put(records)
    task.put([sink_record(3, "four")])
    assert file.read_text() == "one\ntwo\nthree\nfour\n"
    task.stop()


def test_a_line_that_was_torn_by_a_kill_stands_alone(tmp_path):
    file = tmp_path / "test.sink.txt"
    file.write_text("one\ntw")
    task = started(FileStreamSinkTask(), {"file": str(file)}, SinkContext())
    task.put([sink_record(1, "two")])
    assert file.read_text() == "one\ntw\ntwo\n"
    task.stop()
