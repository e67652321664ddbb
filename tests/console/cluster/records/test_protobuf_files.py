"""Protobuf by files that say which message a topic's records are, and what is wrong with them."""

import json
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2

from broker.common import extras
from console.cluster.records import protobuf_files
from console.cluster.records.decoders import RecordDecoder
from console.cluster.records.masking import MASK, Masker, parse_masking
from console.cluster.records.presenters import ShownRecord
from console.cluster.records.protobuf_files import MESSAGE_BYTES_MAX, MappingError, parse_rules
from console.cluster.records.text import TEXT_LENGTH_MAX
from console.kit.gateway.records.interface import RecordView

RULES = """
[[messages]]
topics = "orders*"
file = "{file}"
message = "shop.Order"
"""
PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "parts.proto";
message Order { string city = 1; Order part = 2; google.protobuf.Timestamp at = 3; Card card = 4; }
"""
PARTS = 'syntax = "proto3"; package shop; message Card { string number = 1; }'
#: city Bern, at 7 s, card 4000
ORDER = b"\x0a\x04Bern\x1a\x02\x08\x07\x22\x06\x0a\x044000"


@pytest.fixture
def files(settings):
    """files(name, data): the one that the rules name, beside what it imports."""
    directory = settings.PROTOBUF_FILE.with_name("protobuf")

    def put(name: str, data: bytes | str) -> None:
        directory.mkdir(exist_ok=True)
        (directory / "parts.proto").write_text(PARTS)
        (directory / name).write_bytes(data.encode() if isinstance(data, str) else data)
        settings.PROTOBUF_FILE.write_text(RULES.format(file=name))

    return put


@pytest.fixture
def described() -> bytes:
    """A descriptor set, as protoc writes it without what Google ships."""
    descriptor_set = descriptor_pb2.FileDescriptorSet()
    parts = descriptor_set.file.add(name="parts.proto", package="shop", syntax="proto3")
    parts.message_type.add(name="Card").field.add(name="number", number=1, type=9, label=1)
    file = descriptor_set.file.add(name="orders.proto", package="shop", syntax="proto3")
    file.dependency.extend(["google/protobuf/timestamp.proto", "parts.proto"])
    order = file.message_type.add(name="Order")
    order.field.add(name="city", number=1, type=9, label=1)
    order.field.add(name="part", number=2, type=11, label=1, type_name=".shop.Order")
    order.field.add(name="at", number=3, type=11, label=1, type_name=".google.protobuf.Timestamp")
    order.field.add(name="card", number=4, type=11, label=1, type_name=".shop.Card")
    return descriptor_set.SerializeToString()


def shown(value: bytes, topic: str = "orders.eu"):
    return ShownRecord(RecordView(0, 0, 0, None, value), "auto", TEXT_LENGTH_MAX, RecordDecoder(topic)).value


def test_a_record_is_read_by_a_descriptor_set(files, described):
    files("orders.desc", described)
    text = shown(ORDER)
    assert json.loads(text.text) == {"city": "Bern", "at": "1970-01-01T00:00:07Z", "card": {"number": "4000"}}
    assert text.note == "Protobuf, shop.Order of orders.desc"
    assert shown(b"plain", "others").text == "plain"


def test_a_record_is_read_by_a_proto_with_what_it_imports(files):
    files("orders.proto", PROTO)
    assert json.loads(shown(ORDER).text)["card"] == {"number": "4000"}


def test_without_a_compiler_a_proto_says_what_to_install(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "grpc_tools" else name)
    with pytest.raises(MappingError, match=r"cannot be compiled. .*grpc_tools, which is not installed: make setup"):
        protobuf_files._compiled(Path("orders.proto"))


def test_a_changed_file_counts_at_once(files, described):
    files("orders.desc", described)
    assert "city" in shown(ORDER).text
    files("orders.desc", described.replace(b"city", b"town"))
    assert "town" in shown(ORDER).text


def test_fields_that_the_message_does_not_know_are_told_of(files, described):
    files("orders.desc", described)
    assert shown(ORDER + b"\x50\x01").note.endswith("with fields it does not know")


def test_parts_are_hidden_of_what_is_read_so_and_all_of_what_is_not(files, described):
    files("orders.desc", described)
    (rule,) = parse_masking('[[rules]]\ntopics = "orders*"\nmask = ["value.card.number"]')
    masker = Masker("orders", rule.paths)
    hidden = masker.masked(RecordView(0, 0, 0, None, ORDER)).value
    assert json.loads(hidden)["card"] == {"number": MASK}
    assert masker.masked(RecordView(0, 0, 0, None, b"\x0a\xff4000")).value == MASK.encode()


def nested(depth: int) -> bytes:
    data = b""
    for _ in range(depth):
        size, head = len(data), b""
        while size > 127:
            head, size = head + bytes([size & 127 | 128]), size >> 7
        data = b"\x12" + head + bytes([size]) + data
    return data


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"\x0a\xff", "it is no shop.Order"), (nested(5_000), "it is no shop.Order"),
     (b"\x0a\x02\xff\xfe", "it is no shop.Order"), (b"\x50\x00" * MESSAGE_BYTES_MAX, "it is longer than")],
)  # fmt: skip
def test_what_is_no_such_message_is_shown_as_bytes_with_the_reason(files, described, data, why):
    files("orders.desc", described)
    text = shown(data)
    assert text.kind == "hex"
    assert why in text.note


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [("orders.desc", b"\xff\xff", "orders.desc cannot be used"), ("orders.desc", b"", "has no message shop.Order"),
     ("orders.proto", "message {", "orders.proto cannot be compiled"),
     ("orders.proto", 'syntax = "proto3"; import "/etc/passwd";', "orders.proto cannot be compiled")],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_named(files, name, data, why):
    files(name, data)
    assert why in shown(ORDER).note
    assert shown(ORDER).kind == "hex"


def test_a_file_that_others_may_write_is_not_used(files, described, settings):
    files("orders.desc", described)
    settings.PROTOBUF_FILE.with_name("protobuf").joinpath("orders.desc").chmod(0o666)
    assert "can be written by others" in shown(ORDER).note


def test_while_the_rules_are_wrong_text_stays_text_and_bytes_are_not_guessed_at(settings):
    settings.PROTOBUF_FILE.write_text("[[messages")
    assert shown(b'{"a": 1}').kind == "json"
    assert (shown(b"\xff\x01").kind, "it is no TOML" in shown(b"\xff\x01").note) == ("hex", True)


@pytest.mark.parametrize(
    "text",
    ["x = 1", "messages = 1", '[[messages]]\ntopics = "a"', "messages = [1]",
     *(f'[[messages]]\ntopics = "a"\nmessage = "M"\nfile = "{name}"' for name in ("../a.desc", "/etc/x.desc", "a", "")),
     '[[messages]]\ntopics = "a"\nfile = "a.desc"\nmessage = "M"\npart = "header"',
     '[[messages]]\ntopics = "a"\nfile = "a.desc"\nmessage = "M"\nother = 1'],
)  # fmt: skip
def test_rules_that_say_something_else_are_refused(text):
    with pytest.raises(MappingError):
        parse_rules(text)


def test_a_compiler_that_does_not_end_is_left(files, monkeypatch):
    monkeypatch.setattr(protobuf_files, "COMPILE_SECONDS", 0.001)
    files("orders.proto", PROTO)
    assert "to compile" in shown(ORDER).note
