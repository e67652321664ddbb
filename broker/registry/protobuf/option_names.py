"""How an option that an extension defines is named in a text, so that protoc finds that extension again. Pure.

protoc looks a name up from the innermost scope outwards and stops where the name's first component names a package or a
type: in package `io.confluent.x` the option `confluent.field_meta` is looked up in `io.confluent`. A leading dot makes
the lookup begin at the root. The dot is printed only where a scope hides the name, so that texts without such a scope
stay the ones that are stored already.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
)

#: What the compiler says of a name that it finds in a scope, and not there.
_HIDDEN = re.compile(r'Option (?:field )?"\(([\w.]+)\)" (?:is resolved to|is not a field or extension)')
#: What stands in quotes or in comments, or a name in brackets.
_BRACKETED = re.compile(
    r"""//[^\n]*|/\*(?:.*?\*/|.*)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\(\s*([A-Za-z_][\w.]*)\s*\)""", re.DOTALL
)


class _Scope:
    """The names in a package, a message, an enum or a service; None for one that has no names in it itself.

    Names are kept part by part: full names of thousands of fields in a scope with a long name would fill the memory.
    """

    __slots__ = ("names",)

    def __init__(self) -> None:
        self.names: dict[str, _Scope | None] = {}

    def within(self, name: str) -> "_Scope":
        scope = self.names.get(name)
        if scope is None:
            scope = self.names[name] = _Scope()
        return scope

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            self.names.setdefault(name)


class OptionNames:
    """The symbols that the last file sees: its own, those of its imports and of what these import publicly."""

    def __init__(self, files: Sequence[FileDescriptorProto]):
        self._root = _Scope()
        #: The scopes of what was asked for last: all fields of a message have the same.
        self._around, self._scopes = "", list[_Scope]()
        for file in _visible(files):
            self._add_file(file)

    def printed(self, full_name: str, around: str) -> str:
        """Return the name of the extension for an option of an element. around: the full name of what it is in, with a
        dot behind it; empty for an element in no package.
        """
        first, dot, _ = full_name.partition(".")
        if self._around != around:
            self._around, self._scopes = around, list(self._within(around))
        hides = any(first in scope.names and not (dot and scope.names[first] is None) for scope in self._scopes)
        return f"(.{full_name})" if hides else f"({full_name})"

    def _within(self, around: str) -> Iterator[_Scope]:
        scope: _Scope | None = self._root
        for part in around.split(".")[:-1]:
            scope = scope.names.get(part) if scope else None
            if scope:
                yield scope

    def _add_file(self, file: FileDescriptorProto) -> None:
        scope = self._root
        for part in file.package.split(".") if file.package else ():
            scope = scope.within(part)
        for message in file.message_type:
            _add_message(scope, message)
        _add_enums(scope, file.enum_type)
        scope.add(field.name for field in file.extension)
        for service in file.service:
            scope.within(service.name).add(method.name for method in service.method)


def _add_message(around: _Scope, message: DescriptorProto) -> None:
    scope = around.within(message.name)
    scope.add(field.name for field in (*message.field, *message.extension))
    scope.add(oneof.name for oneof in message.oneof_decl)
    _add_enums(scope, message.enum_type)
    for nested in message.nested_type:
        _add_message(scope, nested)


def _add_enums(around: _Scope, enums: Iterable[EnumDescriptorProto]) -> None:
    """Add an enum's values, which are names of the scope around it."""
    for enum in enums:
        around.within(enum.name)
        around.add(value.name for value in enum.value)


def _visible(files: Sequence[FileDescriptorProto]) -> Iterator[FileDescriptorProto]:
    by_name = {file.name: file for file in files}
    yield files[-1]
    waiting, seen = list(files[-1].dependency), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in by_name:
            continue
        seen.add(name)
        file = by_name[name]
        yield file
        waiting += [file.dependency[at] for at in file.public_dependency]


def hidden_options(errors: str) -> frozenset[str]:
    """Return the names of options that the compiler looked for in the wrong scope, by what it says of them."""
    return frozenset(name for name in _HIDDEN.findall(errors) if not name.startswith("."))


def with_dots(text: str, names: frozenset[str]) -> str:
    """Return the text with a dot before these names of options, wherever one stands in brackets."""
    return _BRACKETED.sub(lambda match: f"(.{match[1]})" if match[1] in names else match[0], text)
