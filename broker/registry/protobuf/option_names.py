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
    FieldDescriptorProto,
    FileDescriptorProto,
)

#: An option's name as texts were printed before they had leading dots.
_UNDOTTED = re.compile(r"\((?=[A-Za-z_]\w*(?:\.\w+)*\) = )")


class OptionNames:
    """The symbols that the last file sees: its own, those of its imports and of what these import publicly."""

    def __init__(self, files: Sequence[FileDescriptorProto]):
        self._scopes: set[str] = set()
        self._symbols: set[str] = set()
        for file in _visible(files):
            self._add_file(file)

    def printed(self, full_name: str, element: str) -> str:
        """Return the name of the extension for an option of the element, whose full name decides the scopes."""
        first, dot, _ = full_name.partition(".")
        hiding = self._scopes if dot else self._symbols
        scope = element.rpartition(".")[0]
        while scope:
            if f"{scope}.{first}" in hiding:
                return f"(.{full_name})"
            scope = scope.rpartition(".")[0]
        return f"({full_name})"

    def _add_file(self, file: FileDescriptorProto) -> None:
        package = file.package
        while package:
            self._add(package, is_scope=True)
            package = package.rpartition(".")[0]
        root = f"{file.package}." if file.package else ""
        for message in file.message_type:
            self._add_message(root, message)
        self._add_enums(root, file.enum_type)
        self._add_fields(root, file.extension)
        for service in file.service:
            self._add(f"{root}{service.name}", is_scope=True)
            for method in service.method:
                self._add(f"{root}{service.name}.{method.name}")

    def _add_message(self, around: str, message: DescriptorProto) -> None:
        self._add(f"{around}{message.name}", is_scope=True)
        root = f"{around}{message.name}."
        self._add_fields(root, message.field)
        self._add_fields(root, message.extension)
        for oneof in message.oneof_decl:
            self._add(f"{root}{oneof.name}")
        self._add_enums(root, message.enum_type)
        for nested in message.nested_type:
            self._add_message(root, nested)

    def _add_enums(self, around: str, enums: Iterable[EnumDescriptorProto]) -> None:
        """Values of an enum are names of the scope around it."""
        for enum in enums:
            self._add(f"{around}{enum.name}", is_scope=True)
            for value in enum.value:
                self._add(f"{around}{value.name}")

    def _add_fields(self, around: str, fields: Iterable[FieldDescriptorProto]) -> None:
        for field in fields:
            self._add(f"{around}{field.name}")

    def _add(self, name: str, *, is_scope: bool = False) -> None:
        self._symbols.add(name)
        if is_scope:
            self._scopes.add(name)


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


def with_dots(text: str) -> str:
    """Return a stored text with a dot before each full name of an option: texts printed without it hide some names."""
    return _UNDOTTED.sub("(.", text)
