"""Maps as Java's serializers write those of a compiled class: a repeated message with `option map_entry = true`.

protoc, which knows only `map<K, V>` in a text, refuses that. So it is given the text without such options, and told of
them by its descriptors afterwards. Pure.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from broker.registry.errors import InvalidSchema

#: What is not ended goes on to its line's end, a comment to the text's: each character is looked at once.
_TOKEN = re.compile(
    r"//[^\n]*|/\*(?:.*?\*/|.*)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|\w+|\S",
    re.DOTALL,
)
_OPTION = ("option", "map_entry", "=", "true", ";")
_MAP = ("key", 1), ("value", 2)
#: Deeper than protoc lets messages be.
_DEPTH_MAX = 100
_NO_KEYS = frozenset(
    (
        FieldDescriptorProto.TYPE_BYTES,
        FieldDescriptorProto.TYPE_DOUBLE,
        FieldDescriptorProto.TYPE_ENUM,
        FieldDescriptorProto.TYPE_FLOAT,
        FieldDescriptorProto.TYPE_GROUP,
        FieldDescriptorProto.TYPE_MESSAGE,
    )
)


class Plain(NamedTuple):
    """A text without such options, and the messages that had one: names from the outermost on."""

    text: str
    entries: frozenset[tuple[str, ...]]


def without_map_entries(text: str) -> Plain:
    if "map_entry" not in text:
        return Plain(text, frozenset())
    cuts, entries = [], []
    within: list[str] = []
    last: list[re.Match[str]] = []
    for token in tokens(text):
        last = [*last, token][-len(_OPTION) :]
        words = tuple(match.group() for match in last)
        if words == _OPTION and within and within[-1]:
            cuts.append((last[0].start(), token.end()))
            entries.append(tuple(within))
        elif words[-1] == "{":
            if len(within) == _DEPTH_MAX:
                return Plain(text, frozenset())
            within.append(words[-2] if words[-3:-2] == ("message",) else "")
        elif words[-1] == "}" and within:
            within.pop()
    return Plain(blanked(text, cuts), frozenset(entries))


def describe_map_entries(file: FileDescriptorProto, entries: frozenset[tuple[str, ...]]) -> None:
    """Raises InvalidSchema where the message is none that `map<K, V>` stands for."""
    if not entries:
        return
    printed = set()
    for names, message, parent in _messages((), file.message_type, None):
        if names in entries and parent is not None and _is_of_a_map(parent, message):
            message.options.map_entry = True
            printed.add(names)
    for names in entries - printed:
        raise InvalidSchema(f"map_entry should not be set on {'.'.join(names)}. Use map<KeyType, ValueType> instead.")


def tokens(text: str) -> Iterator[re.Match[str]]:
    return (match for match in _TOKEN.finditer(text) if not match.group().startswith(("//", "/*")))


def blanked(text: str, cuts: Iterable[tuple[int, int]]) -> str:
    """Blank out the ranges, keeping the length so that the compiler's errors name the same positions."""
    pieces: list[str] = []
    at = 0
    for start, end in cuts:
        pieces += text[at:start], re.sub(r"[^\n]", " ", text[start:end])
        at = end
    return "".join((*pieces, text[at:]))


def _messages(
    around: tuple[str, ...], messages: Iterable[DescriptorProto], parent: DescriptorProto | None
) -> Iterator[tuple[tuple[str, ...], DescriptorProto, DescriptorProto | None]]:
    for message in messages:
        names = (*around, message.name)
        yield names, message, parent
        yield from _messages(names, message.nested_type, message)


def _is_of_a_map(parent: DescriptorProto, entry: DescriptorProto) -> bool:
    fields = tuple((proto.name, proto.number) for proto in entry.field)
    is_alone = not (entry.nested_type or entry.enum_type or entry.extension or entry.oneof_decl)
    return bool(
        is_alone
        and fields == _MAP
        and all(proto.label == FieldDescriptorProto.LABEL_OPTIONAL for proto in entry.field)
        and entry.field[0].type not in _NO_KEYS
        and any(_is_map(field, entry.name) for field in parent.field)
    )


def _is_map(field: FieldDescriptorProto, entry: str) -> bool:
    camel = "".join(part[:1].upper() + part[1:] for part in field.name.split("_"))
    return bool(
        field.label == FieldDescriptorProto.LABEL_REPEATED
        and field.type_name.rpartition(".")[2] == entry == f"{camel}Entry"
    )
