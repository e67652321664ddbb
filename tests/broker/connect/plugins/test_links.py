"""A link that is put in place after a path was checked leads no connector out of `connector.file.roots`."""

import os

import pytest

from broker.connect.api import ConfigError, ConnectError, RetriableError
from broker.connect.plugins import file_sink, paths
from broker.connect.plugins.directory import source as directory_source
from broker.connect.plugins.directory.source import DirectorySourceConnector, DirectorySourceTask
from broker.connect.plugins.file_sink import FileStreamSinkTask
from broker.connect.plugins.file_source import FileStreamSourceTask
from broker.connect.plugins.objects.store import ObjectDirectory
from broker.connect.plugins.sql.database import CONNECTION
from tests.broker.connect.plugins.runner import SinkContext, SourceContext, sink_record, started

SECRET = "of another user\n"


@pytest.fixture
def files(tmp_path):
    """An allowed directory `files/in`, with `secret` and `elsewhere/log` beside `files`, which no connector may see."""
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "log").write_text(SECRET)
    inside = tmp_path / "files" / "in"
    inside.mkdir(parents=True)
    (inside / "log").write_text("a\n")
    paths.allow([str(tmp_path / "files")])
    yield tmp_path / "files"
    paths.allow(None)


def swap_file(files):
    (files / "in" / "log").unlink()
    (files / "in" / "log").symlink_to(files.parent / "secret")


def swap_directory(files):
    (files / "in").rename(files / "was")
    (files / "in").symlink_to(files.parent / "elsewhere")


SWAPS = pytest.mark.parametrize("swap", [swap_file, swap_directory])


def swapped_after_check(monkeypatch, module, swap, files):
    """The link comes just after the path was checked, before it is opened."""

    def checked_path(*args, **kwargs):
        path = paths.checked_path(*args, **kwargs)
        swap(files)
        return path

    monkeypatch.setattr(module, "checked_path", checked_path)


def source(files, context=None):
    props = {"file": str(files / "in" / "log"), "topic": "t", "last.line.rest.ms": "0"}
    return started(FileStreamSourceTask(), props, context or SourceContext())


@SWAPS
def test_a_file_source_reads_no_link_that_came_after_the_check(files, swap):
    task = source(files)
    swap(files)
    assert task.poll() == []


@SWAPS
def test_a_file_source_that_was_reading_does_not_turn_to_a_link(files, swap, monkeypatch):
    monkeypatch.setattr("broker.connect.file_tail.ROTATION_GRACE_MS", 0)
    task = source(files)
    assert [record.value for record in task.poll()] == ["a"]
    swap(files)
    assert [record.value for _ in range(4) for record in task.poll()] == []


def test_a_resume_point_is_not_of_what_a_link_leads_to(files, monkeypatch):
    from broker.connect.plugins import file_source

    swapped_after_check(monkeypatch, file_source, swap_file, files)
    filename = str(files / "in" / "log")
    task = source(files, SourceContext([({"filename": filename}, {"position": 3})]))
    assert task.poll() == []


@SWAPS
def test_a_file_sink_appends_to_no_link_that_came_after_the_check(files, swap, monkeypatch):
    swapped_after_check(monkeypatch, file_sink, swap, files)
    with pytest.raises(ConnectError, match="find or create"):
        started(FileStreamSinkTask(), {"file": str(files / "in" / "log")}, SinkContext())
    assert (files.parent / "secret").read_text() == (files.parent / "elsewhere" / "log").read_text() == SECRET


def test_a_file_sink_completes_a_torn_line_and_creates_what_is_missing(files):
    (files / "in" / "log").write_text("torn")
    for name in ("log", "new"):
        task = started(FileStreamSinkTask(), {"file": str(files / "in" / name)}, SinkContext())
        task.put([sink_record(0, "b")])
        task.stop()
    assert (files / "in" / "log").read_text() == "torn\nb\n"
    assert (files / "in" / "new").read_text() == "b\n"


@pytest.mark.parametrize("is_held", [True, False])
def test_an_object_sink_writes_through_no_link_in_place_of_its_unfinished_file(files, is_held):
    if not is_held:
        paths.allow(None)
    (files / "in" / ".a.json.writing").symlink_to(files.parent / "secret")
    ObjectDirectory(str(files / "in")).write("a.json", b"rows")
    assert (files.parent / "secret").read_text() == SECRET
    assert (files / "in" / "a.json").read_bytes() == b"rows"
    assert not (files / "in" / "a.json").is_symlink()
    assert sorted(os.listdir(files / "in")) == ["a.json", "log"]


def test_an_object_sink_writes_into_no_directory_that_is_a_link(files):
    store = ObjectDirectory(str(files / "in"))
    store.write("t/2020/a.json", b"rows")
    assert (files / "in" / "t" / "2020" / "a.json").read_bytes() == b"rows"
    (files / "in" / "u").symlink_to(files.parent / "elsewhere")
    with pytest.raises(RetriableError, match="cannot be written"):
        store.write("u/2020/a.json", b"rows")
    swap_directory(files)
    with pytest.raises(RetriableError, match="cannot be written"):
        store.write("t/b.json", b"rows")
    assert os.listdir(files.parent / "elsewhere") == ["log"]


DIRECTORY = {"topic": "t", "pattern": "*", "file.rest.ms": "0", "format": "lines", "done": "delete"}


def test_a_directory_source_opens_no_directory_below_a_link_that_came_after_the_check(files, monkeypatch):
    (files.parent / "elsewhere" / "deep").mkdir()
    (files / "in" / "deep").mkdir()
    swapped_after_check(monkeypatch, directory_source, swap_directory, files)
    with pytest.raises(ConnectError, match="cannot be opened"):
        started(DirectorySourceTask(), DIRECTORY | {"directory": str(files / "in" / "deep")}, SourceContext())


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd"])
def test_an_offset_that_an_operator_wrote_names_no_file_outside_of_the_directory(files, name):
    directory = str(files / "in")
    offset = {"file": name, "inode": 0, "position": 0, "sum": 0, "modified": 0}
    task = started(
        DirectorySourceTask(),
        DIRECTORY | {"directory": directory},
        SourceContext([({"directory": directory}, offset)]),
    )
    records = [record for _ in range(3) for record in task.poll()]
    task.stop()
    assert [record.value for record in records] == ["a"]
    partition = f'{{"directory": "{directory}"}}'
    with pytest.raises(ConnectError, match="A source offset is one"):
        DirectorySourceConnector().alter_offsets({}, {partition: offset})


def test_a_database_file_is_made_below_the_roots_for_writing_only(files):
    paths.allow([str(files)], [])
    url = f"sqlite:///{files}/in/new.db"
    (first,) = [key for key in CONNECTION.validate({"connection.url": url}) if key.name == "connection.url"]
    assert "not write to it" in first.errors[0]
    with pytest.raises(ConfigError, match="not write to it"):
        CONNECTION.parse({"connection.url": url})
