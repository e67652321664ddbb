"""Decoders that were installed: who is asked, what one that fails costs, how long all may take."""

import pytest

from console.cluster.records import decoders
from console.cluster.records.decoders import GROUP, RecordDecoder, installed
from console.cluster.records.presenters import ShownRecord
from console.cluster.records.text import TEXT_LENGTH_MAX
from console.kit.gateway.records.interface import RecordView


def shout(topic: str, part: str, data: bytes) -> str | None:
    return f'{{"{topic}": "{part}"}}' if data.startswith(b"!") else None


def fail(topic: str, part: str, data: bytes) -> str | None:
    raise ValueError("no such <thing>")


class EntryPoint:
    def __init__(self, name, function):
        self.name, self.function = name, function

    def load(self):
        if self.function is None:
            raise ImportError(self.name)
        return self.function


@pytest.fixture
def install(monkeypatch):
    def put(**functions):
        points = [EntryPoint(name, function) for name, function in functions.items()]
        monkeypatch.setattr(decoders, "entry_points", lambda group: points if group == GROUP else [])
        installed.cache_clear()

    yield put
    installed.cache_clear()


def shown(value: bytes | None, shown_as: str = "auto"):
    record = RecordView(0, 0, 0, None, value)
    return ShownRecord(record, shown_as, TEXT_LENGTH_MAX, RecordDecoder("orders")).value


def test_bytes_are_shown_as_their_decoder_says(install):
    install(shout=shout)
    text = shown(b"!\x00\x01")
    assert (text.kind, text.text, text.note, text.size_bytes) == ("json", '{\n  "orders": "value"\n}', "shout", 3)
    assert shown(b"!\x00\x01", "hex").kind == "hex"


def test_what_no_decoder_takes_is_shown_as_ever(install):
    install(shout=shout)
    assert (shown(b"plain").text, shown(b"plain").note) == ("plain", "")
    assert shown(None).kind == "null"


def test_a_decoder_that_fails_is_named_and_the_bytes_are_shown(install):
    install(broken=fail)
    text = shown(b"!\x01")
    assert text.kind == "hex"
    assert text.note == "broken failed: ValueError: no such <thing>"


def test_one_that_cannot_be_loaded_is_left_out(install, caplog):
    install(gone=None, shout=shout)
    assert [name for name, _ in installed()] == ["shout"]
    assert "the decoder gone cannot be loaded" in caplog.text


def test_all_decoders_of_a_page_have_two_seconds(install):
    install(slow=shout)
    now = [0.0]

    def later() -> float:
        now[0] += 0.9
        return now[0]

    decoder = RecordDecoder("orders", now_s=later)
    results = [decoder.decode("value", b"!x") for _ in range(5)]
    assert [bool(item.text) for item in results] == [True, True, True, False, False]
    assert "taken its time" in results[-1].note
