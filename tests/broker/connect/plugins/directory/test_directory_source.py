import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.connect.api import ConfigError, ConnectError
from broker.connect.plugins import paths
from broker.connect.plugins.directory import source
from broker.connect.plugins.directory.source import DirectorySourceConnector, DirectorySourceTask
from tests.broker.connect.plugins.runner import SourceContext, started
from tests.examples import examples

_NOW_MS = 1_700_000_000_000


class Inbox:
    """A directory, a clock that is moved by hand, and a task that is acknowledged what it gives."""

    def __init__(self, path):
        self.path, self.now, self.context = path, _NOW_MS, SourceContext()
        self.task = None
        path.mkdir(exist_ok=True)

    def now_ms(self):
        return self.now

    def put(self, name, content, *, rested_ms=10_000):
        file = self.path / name
        file.write_bytes(content)
        self.date(name, rested_ms)
        return file

    def date(self, name, rested_ms):
        os.utime(self.path / name, ns=((self.now - rested_ms) * 1_000_000,) * 2)

    def start(self, **props):
        self.props = {"directory": str(self.path), "topic": "t"} | {k.replace("_", "."): v for k, v in props.items()}
        self.task = started(DirectorySourceTask(), self.props, self.context)
        return self

    def poll(self, *, acknowledged=True):
        records = self.task.poll()
        if acknowledged:
            self.acknowledge(records)
        return records

    def acknowledge(self, records):
        for record in records:
            self.task.commit_record(record, ("t", 0, 0))

    def values(self, polls=6):
        return [record.value for _ in range(polls) for record in self.poll()]

    def names(self):
        return sorted(path.name for path in self.path.iterdir())


@pytest.fixture
def inbox(tmp_path, monkeypatch):
    made = Inbox(tmp_path / "inbox")
    monkeypatch.setattr(source, "_CLOCK", made)
    monkeypatch.setattr(source, "WAIT_S", 0)
    monkeypatch.setattr(source, "ARRIVAL_S", 0)
    yield made
    if made.task is not None:
        made.task.stop()


def test_files_are_read_oldest_first_and_marked_when_their_records_have_arrived(inbox):
    inbox.put("new.txt", b"c\n", rested_ms=6_000)
    inbox.put("old.txt", b"a\nb", rested_ms=9_000)
    inbox.start()
    records = inbox.poll(acknowledged=False)
    assert [(record.key, record.value) for record in records] == [("old.txt", "a"), ("old.txt", "b")]
    assert inbox.poll() == []
    assert inbox.names() == ["new.txt", "old.txt"]
    inbox.acknowledge(records)
    assert inbox.values() == ["c"]
    assert inbox.names() == ["new.txt.done", "old.txt.done"]


def test_a_file_that_somebody_still_writes_to_waits_and_what_is_added_before_its_mark_is_read(inbox):
    file = inbox.put("a", b"1\n2", rested_ms=100)
    inbox.start()
    assert inbox.values() == []
    inbox.now += 10_000
    assert inbox.values(1) == ["1", "2"]
    with file.open("ab") as more:
        more.write(b"\n3")
    inbox.date("a", 0)
    assert inbox.values() == [""]
    assert inbox.names() == ["a"]
    inbox.now += 10_000
    assert inbox.values() == ["3"]
    assert inbox.names() == ["a.done"]


def test_rows_json_and_whole_files(inbox):
    inbox.put("a.csv", b'\xef\xbb\xbfid,name\n1,"two\nlines"\n\n')
    inbox.put("b.json", b'{"a": 1}\n[2]\n')
    inbox.put("c.bin", b"\x00\xff\n")
    inbox.put("empty.bin", b"")
    inbox.start(format="csv", pattern="*.csv")
    assert [dict(item) for item in inbox.values()] == [{"id": "1", "name": "two\nlines"}]
    inbox.start(format="json", pattern="*.json")
    assert inbox.values() == [{"a": 1}, [2]]
    inbox.start(format="file", pattern="*.bin")
    assert inbox.values() == [b"\x00\xff\n"]
    assert inbox.names() == ["a.csv.done", "b.json.done", "c.bin.done", "empty.bin.done"]


def test_done_files_are_moved_or_deleted_and_nothing_is_written_over(inbox, tmp_path):
    done = tmp_path / "done"
    done.mkdir()
    (done / "a").write_text("before")
    inbox.put("a", b"1\n")
    inbox.start(done="move", done_directory=str(done))
    assert inbox.values() == ["1"]
    assert {path.name: path.read_text() for path in done.iterdir()} == {"a": "before", "a.1": "1\n"}
    inbox.put("b", b"2\n")
    inbox.start(done="delete")
    assert inbox.values() == ["2"]
    assert inbox.names() == []


@settings(max_examples=examples(60))
@given(
    rows=st.lists(st.sampled_from(["a", "", "long line", "ü"]), min_size=1, max_size=9),
    polled=st.lists(st.integers(0, 3), max_size=8),
    form=st.sampled_from(["lines", "csv"]),
)
def test_a_task_that_is_killed_anywhere_goes_on_behind_what_was_stored(tmp_path_factory, rows, polled, form):
    """Whatever was given and not stored comes again; what was stored does not, also when its file is not marked yet."""
    inbox = Inbox(tmp_path_factory.mktemp("inbox"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "_CLOCK", inbox)
        patch.setattr(source, "WAIT_S", 0)
        patch.setattr(source, "ARRIVAL_S", 0)
        header = b"x,y\n" if form == "csv" else b""
        for name in ("1", "2"):
            inbox.put(
                name, header + "".join(f'{name},"{row}\n"\n' for row in rows).encode(), rested_ms=9_000 + int(name)
            )
        expected = [
            record.value if form == "lines" else dict(record.value) for record in _everything(inbox, form, keep=False)
        ]
        for name in ("1", "2"):
            os.rename(inbox.path / f"{name}.done", inbox.path / name)
        inbox.context = SourceContext()
        stored = []
        for count in polled:
            inbox.start(format=form, batch_size="3")
            for _ in range(3):
                records = inbox.poll(acknowledged=False)
                kept = records[:count]
                inbox.context.store(kept)
                stored += kept
                if len(kept) < len(records):
                    break
                inbox.acknowledge(kept)
            inbox.task.stop()
        stored += _everything(inbox, form, keep=True)
        assert [item.value if form == "lines" else dict(item.value) for item in stored] == expected
        assert inbox.names() == ["1.done", "2.done"]


def _everything(inbox, form, *, keep):
    inbox.start(format=form)
    records = [record for _ in range(12) for record in inbox.poll()]
    if keep:
        inbox.context.store(records)
    inbox.task.stop()
    return records


def test_another_file_of_the_same_name_is_read_from_its_beginning(inbox):
    inbox.put("a", b"1\n2\n")
    inbox.start()
    inbox.context.store(inbox.poll())
    inbox.task.stop()
    inbox.put("a", b"3\n4\n", rested_ms=9_000)
    inbox.start()
    assert inbox.values() == ["3", "4"]


def test_links_hidden_files_and_odd_names_are_left_alone(inbox, tmp_path):
    (tmp_path / "secret").write_text("secret\n")
    (inbox.path / "link").symlink_to(tmp_path / "secret")
    (inbox.path / "dangling").symlink_to("nowhere")
    (inbox.path / "folder").mkdir()
    os.mkfifo(inbox.path / "fifo")
    inbox.put(".hidden", b"no\n")
    inbox.put("a.done", b"no\n")
    inbox.put("new\nline; rm -rf", b"yes\n")
    with open(os.fsencode(inbox.path) + b"/\xff", "wb") as odd:
        odd.write(b"no\n")
    os.utime(os.fsencode(inbox.path) + b"/\xff", (1, 1))
    before = set(inbox.names())
    inbox.start(file_rest_ms="0")
    records = [record for _ in range(6) for record in inbox.poll()]
    assert [(record.key, record.value) for record in records] == [("new\nline; rm -rf", "yes")]
    assert set(inbox.names()) == before - {"new\nline; rm -rf"} | {"new\nline; rm -rf.done"}


def test_a_file_that_became_a_link_after_the_look_is_not_followed(inbox, tmp_path):
    (tmp_path / "secret").write_text("secret\n")
    inbox.put("a", b"1\n", rested_ms=9_000)
    inbox.put("b", b"2\n", rested_ms=8_000)
    inbox.start()
    assert inbox.values(1) == ["1"]
    (inbox.path / "b").unlink()
    (inbox.path / "b").symlink_to(tmp_path / "secret")
    assert inbox.values() == []


def test_a_record_that_cannot_be_read_fails_the_task_behind_those_before_it_and_names_its_place(inbox):
    inbox.put("a", b'{"n": 1}\n{"n":\n{"n": 3}\n')
    inbox.start(format="json")
    assert [item.value for item in inbox.poll()] == [{"n": 1}]
    with pytest.raises(ConnectError, match="a at byte 9: not JSON"):
        inbox.poll()
    assert inbox.names() == ["a"]


def test_with_tolerance_it_is_left_out_and_its_file_is_kept_beside_whatever_done_says(inbox):
    inbox.put("a", b"good\n\x80\n" + b"x" * 5_000 + b"\nlast\n")
    inbox.start(errors_tolerance="all", done="delete", max_record_bytes="100")
    assert inbox.values() == ["good", "last"]
    assert inbox.names() == ["a.failed"]


def test_a_file_without_an_end_of_line_takes_no_more_memory_than_a_record_may(inbox, monkeypatch):
    inbox.put("a", b"x" * 3_000_000 + b"\nlast\n")
    sizes = []
    read = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: sizes.append(size) or read(fd, size, at))
    inbox.start(errors_tolerance="all", max_record_bytes="1000")
    assert inbox.values(20) == ["last"]
    assert max(sizes) < 300_000


def test_a_directory_that_is_gone_fails_the_task(inbox):
    inbox.start()
    inbox.path.rename(inbox.path.with_name("elsewhere"))
    with pytest.raises(ConnectError, match="inbox"):
        inbox.poll()


def test_what_cannot_be_right_is_told_at_the_key_that_is_wrong(inbox, tmp_path):
    def faults(**props):
        given = {"directory": str(inbox.path), "topic": "t"} | {k.replace("_", "."): v for k, v in props.items()}
        return {item.name for item in DirectorySourceConnector().validate(given) if item.errors}

    assert faults() == faults(csv_separator="tab") == set()
    assert faults(done="move") == faults(done="move", done_directory=str(inbox.path)) == {"done.directory"}
    assert faults(format="xml", csv_separator="ab") == {"format", "csv.separator"}
    paths.allow([str(inbox.path)])
    try:
        assert faults(directory="/etc") == {"directory"}
        assert faults(done="move", done_directory=str(tmp_path)) == {"done.directory"}
    finally:
        paths.allow(None)


def test_offsets_are_set_to_nothing_or_to_one_that_was_stored(inbox):
    inbox.put("a", b"1\n2\n")
    inbox.start()
    place = inbox.poll()[0].source_offset
    connector, partition = DirectorySourceConnector(), '{"directory": "x"}'
    assert connector.alter_offsets({}, {partition: place})
    assert connector.alter_offsets({}, {partition: None})
    for offsets in ({partition: {"position": 1}}, {partition: place | {"position": -1}}, {'{"a": 1}': None}):
        with pytest.raises(ConnectError):
            connector.alter_offsets({}, offsets)
    with pytest.raises(ConfigError):
        connector.start({"directory": "x", "topic": "t", "done": "move"}, None)
