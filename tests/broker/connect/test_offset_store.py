"""What was stored is there for the next process; a file that is not ours stops the start."""

import pytest

from broker.common.errors import StartupError
from broker.connect.offset_store import FileOffsetStore


def test_stored_offsets_are_there_for_the_next_process(tmp_path):
    file = tmp_path / "connect" / "offsets.json"
    store = FileOffsetStore(file)
    store.store("a", {"x": {"position": 1}, "y": {"position": 2}})
    store.store("a", {"x": {"position": 3}})
    store.store("b", {"x": {"position": 9}})
    again = FileOffsetStore(file)
    assert again.offsets_of("a") == {"x": {"position": 3}, "y": {"position": 2}}
    assert again.offsets_of("b") == {"x": {"position": 9}}
    assert again.offsets_of("c") == {}


def test_unchanged_offsets_are_not_written_again(tmp_path):
    file = tmp_path / "offsets.json"
    store = FileOffsetStore(file)
    store.store("a", {"x": {"position": 1}})
    before = file.stat().st_ino
    store.store("a", {"x": {"position": 1}})
    store.store("a", {})
    assert file.stat().st_ino == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}', "\x00"])
def test_damaged_file_stops_the_start(tmp_path, text):
    file = tmp_path / "offsets.json"
    file.write_text(text)
    with pytest.raises(StartupError, match=r"offsets\.json"):
        FileOffsetStore(file)


def test_half_written_replacement_is_ignored(tmp_path):
    file = tmp_path / "offsets.json"
    FileOffsetStore(file).store("a", {"x": {"position": 1}})
    file.with_name("offsets.json.new").write_text('{"a"')
    assert FileOffsetStore(file).offsets_of("a") == {"x": {"position": 1}}
