"""Answers as tests compare them: their errors, and what in them differs from the declared defaults."""

from collections.abc import Iterator
from typing import Any

from broker.protocol.schema import Message, Struct
from tests.broker.server.authorization.table import REFUSALS


def shape(part: Any) -> Any:
    if isinstance(part, list):
        return [shape(item) for item in part]
    if not isinstance(part, Struct):
        return part or None
    default = type(part)()
    fields = ((field.name, getattr(part, field.name), getattr(default, field.name)) for field in part.fields)
    return {name: value if value is None else shape(value) for name, value, other in fields if value != other}


def codes_in(part: Any) -> Iterator[int]:
    """Every error there is, of whatever kind."""
    if isinstance(part, list):
        for item in part:
            yield from codes_in(item)
    elif isinstance(part, Struct):
        for field in part.fields:
            value = getattr(part, field.name)
            if field.name.endswith("error_code"):
                yield value
            else:
                yield from codes_in(value)


def without_words(part: Any, version: int) -> Iterator[Struct]:
    """What has an error and no message, though the version has a field for it."""
    if isinstance(part, list):
        for item in part:
            yield from without_words(item, version)
    elif isinstance(part, Struct):
        fields = {field.name for field in part.fields if field.exists_in(version)}
        if {"error_code", "error_message"} <= fields and part.error_code and not part.error_message:
            yield part
        for name in fields:
            yield from without_words(getattr(part, name), version)


def refusals_in(response: Message) -> set[int]:
    return REFUSALS & set(codes_in(response))


def parts_about(name: str, part: Any) -> Iterator[Struct]:
    """The outermost structs of an answer that are about that name."""
    if isinstance(part, list):
        for item in part:
            yield from parts_about(name, item)
    elif isinstance(part, Struct):
        values = [getattr(part, field.name) for field in part.fields]
        if name in [value for value in values if isinstance(value, str)]:
            yield part
        else:
            yield from parts_about(name, values)
