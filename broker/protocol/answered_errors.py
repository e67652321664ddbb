"""Which error an answer carries, at its top or for one of the things it is about.

A function for each message class, generated from its declaration: it looks where an `error_code` can be and nowhere
else.
"""

from collections.abc import Callable
from typing import Any

from broker.protocol.schema import Array, Message
from broker.protocol.source import SourceWriter

ErrorCheck = Callable[[Message], int]

_checks: dict[type[Message], ErrorCheck] = {}


def error_check(message_class: type[Message]) -> ErrorCheck:
    """Return the first error code in a message, 0 (NONE) if it has no other."""
    check = _checks.get(message_class)
    if check is None:
        source = SourceWriter()
        with source.block("def error_in(m):"):
            _look_into(message_class, "m", source)
            source.line("return 0")
        check = _checks[message_class] = source.load(f"errors in {message_class.__name__}")["error_in"]
    return check


def _look_into(struct: Any, name: str, source: SourceWriter) -> None:
    for field in struct.fields:
        if field.name == "error_code":
            with source.block(f"if {name}.error_code:"):
                source.line(f"return {name}.error_code")
        elif isinstance(field.type, Array) and _may_fail(field.type.element):
            element = f"{name}_{field.name}"
            with source.block(f"for {element} in {name}.{field.name} or ():"):
                _look_into(field.type.element, element, source)


def _may_fail(struct: Any) -> bool:
    return any(
        field.name == "error_code" or (isinstance(field.type, Array) and _may_fail(field.type.element))
        for field in getattr(struct, "fields", ())
    )
