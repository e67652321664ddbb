"""Where connectors may read, and where they may write: a source reads a log to which no sink may append."""

from pathlib import Path

import pytest

from broker.connect.api import ConfigError
from broker.connect.plugins import paths
from broker.connect.plugins.directory.source import DirectorySourceConnector
from broker.connect.plugins.file_sink import FileStreamSinkConnector, FileStreamSinkTask
from broker.connect.plugins.file_source import FileStreamSourceConnector
from broker.connect.plugins.objects.sink import ObjectSinkConnector
from broker.connect.plugins.paths import checked_path


@pytest.fixture
def log(tmp_path):
    """A log of the product beside the directory that connectors may write to."""
    log, files = tmp_path / "logs" / "access.log", tmp_path / "files"
    for item in (log.parent, files):
        item.mkdir()
    log.write_text("line\n")
    paths.allow([str(files), str(log.parent)], [str(files)])
    yield log
    paths.allow(None)


def reasons(connector, key, value):
    (first,) = [item for item in connector.CONFIG.validate({key: str(value)}) if item.name == key]
    return first.errors


def test_a_source_reads_what_no_sink_writes(log):
    assert reasons(FileStreamSourceConnector, "file", log) == []
    for connector, key, value in (
        (FileStreamSinkConnector, "file", log),
        (ObjectSinkConnector, "path", log.parent),
        (DirectorySourceConnector, "directory", log.parent),
    ):
        (reason,) = reasons(connector, key, value)
        assert "may read it and not write to it" in reason
        assert "connector.file.write.roots" in reason


def test_a_link_out_of_the_directory_is_followed_before_it_is_judged(log):
    link = log.parent.parent / "files" / "link"
    link.symlink_to(log)
    (reason,) = reasons(FileStreamSinkConnector, "file", link)
    assert "not write to it" in reason


def test_a_task_that_was_configured_before_does_not_write_either(log):
    with pytest.raises(ConfigError, match="not write to it"):
        FileStreamSinkTask().start({"file": str(log)}, None)
    assert log.read_text() == "line\n"


def test_a_sink_writes_below_the_roots_for_writing(log):
    assert reasons(FileStreamSinkConnector, "file", log.parent.parent / "files" / "out.txt") == []


def test_without_roots_for_writing_all_roots_are(log):
    paths.allow([str(log.parent)])
    assert reasons(FileStreamSinkConnector, "file", log) == []


def test_standard_output_which_is_the_log_of_a_held_worker_takes_no_records(log):
    with pytest.raises(ConfigError, match="standard output is the log"):
        FileStreamSinkConnector().start({}, None)
    paths.allow(None)
    FileStreamSinkConnector().start({}, None)


def test_a_path_longer_than_any_file_has_is_refused_before_anything_looks_at_it(log, monkeypatch):
    """A megabyte of one-letter directories took minutes."""
    monkeypatch.setattr(Path, "resolve", lambda path: pytest.fail("it takes the square of the path's length"))
    with pytest.raises(ConfigError, match="the path is too long") as refusal:
        checked_path("file", "/a" * 100_000)
    assert len(str(refusal.value)) < 300
