"""Lines become records with the right key, header and resume point."""

import json

from broker.connect.file_source import (
    CONTINUATION_HEADER,
    CONTINUES_HEADER,
    REST_MS,
    UNFINISHED_HEADER,
    FileSource,
    json_member,
)
from broker.connect.source import SourceRecord, acknowledged_prefix, resume_points

NOW = 1_700_000_000_000


def polled(source: FileSource) -> list[SourceRecord]:
    return source.poll(NOW)


def test_key_is_the_file_name(tmp_path):
    file = tmp_path / "letters.txt"
    file.write_text("a\nb\n")
    source = FileSource("documents.lines", (str(file),))
    source.start({})
    records = polled(source)
    assert [(r.topic, r.key, r.value, r.timestamp_ms) for r in records] == [
        ("documents.lines", b"letters.txt", b"a", NOW),
        ("documents.lines", b"letters.txt", b"b", NOW),
    ]
    source.stop()


def test_key_is_the_named_member_and_none_where_there_is_none():
    assert json_member(b'{"path": "/topics", "status": 200}', "path") == b"/topics"
    assert json_member(b'{"status": 200}', "path") is None
    assert json_member(b'{"path": 7}', "path") is None
    assert json_member(b'["path"]', "path") is None
    assert json_member(b"not json", "path") is None
    assert json_member(b"\xff\xfe", "path") is None
    assert json_member(b"[" * 100_000, "path") is None


def test_every_file_gets_its_turn(tmp_path):
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file in files:
        file.write_text("x\n" * 1_200)
    source = FileSource("t", tuple(map(str, files)))
    source.start({})
    assert [polled(source)[0].key for _ in range(4)] == [b"a.txt", b"b.txt", b"a.txt", b"b.txt"]
    source.stop()


def test_restart_from_the_resume_points_neither_doubles_nor_loses_a_line(tmp_path):
    file = tmp_path / "access.log"
    file.write_text("".join(json.dumps({"n": n}) + "\n" for n in range(1_700)))
    offsets, seen = {}, []
    while True:
        source = FileSource("t", (str(file),))
        source.start(offsets)
        records = polled(source)
        source.stop()
        if not records:
            break
        seen += [json.loads(record.value)["n"] for record in records]
        offsets = resume_points(records)
    assert seen == list(range(1_700))


def test_piece_of_a_long_line_says_that_it_continues(tmp_path):
    file = tmp_path / "long.txt"
    file.write_text("abcdef\n")
    source = FileSource("t", (str(file),), max_line_bytes=4)
    source.start({})
    assert [(r.value, r.headers) for r in polled(source)] == [(b"abcd", (CONTINUES_HEADER,)), (b"ef", ())]
    source.stop()


def test_only_records_before_the_first_open_one_may_be_stored():
    records = [SourceRecord("t", None, b"", NOW, (), "file", {"position": n}) for n in range(4)]
    assert resume_points(acknowledged_prefix(records, {0, 1, 3})) == {"file": {"position": 1}}
    assert resume_points(acknowledged_prefix(records, set())) == {}
    assert resume_points(acknowledged_prefix(records, {0, 1, 2, 3})) == {"file": {"position": 3}}


def test_text_without_a_last_line_end_arrives_whole_and_what_is_added_says_so(tmp_path):
    file = tmp_path / "letters.txt"
    file.write_text("a\nb")
    source = FileSource("documents.lines", (str(file),))
    source.start({})
    assert [record.value for record in source.poll(NOW)] == [b"a"]
    assert source.poll(NOW) == []
    (last,) = source.poll(NOW + REST_MS)
    assert (last.value, last.headers) == (b"b", (UNFINISHED_HEADER,))
    with file.open("a") as writer:
        writer.write("c\n")
    (more,) = source.poll(NOW + REST_MS)
    assert (more.value, more.headers) == (b"c", (CONTINUATION_HEADER,))
    source.stop()
