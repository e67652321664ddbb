"""Descriptors back to text, the same text for the same descriptors: what counts as one and the same schema.

Names of types are written in full with a dot before, comments are not in descriptors and so are gone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
    OneofDescriptorProto,
    ServiceDescriptorProto,
)
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as F

from broker.registry.errors import InvalidSchema
from broker.registry.protobuf.option_names import OptionNames

_SCALARS = {
    F.TYPE_DOUBLE: "double", F.TYPE_FLOAT: "float", F.TYPE_INT64: "int64", F.TYPE_UINT64: "uint64",
    F.TYPE_INT32: "int32", F.TYPE_FIXED64: "fixed64", F.TYPE_FIXED32: "fixed32", F.TYPE_BOOL: "bool",
    F.TYPE_STRING: "string", F.TYPE_BYTES: "bytes", F.TYPE_UINT32: "uint32", F.TYPE_SFIXED32: "sfixed32",
    F.TYPE_SFIXED64: "sfixed64", F.TYPE_SINT32: "sint32", F.TYPE_SINT64: "sint64",
}  # fmt: skip
_LABELS = {F.LABEL_OPTIONAL: "optional ", F.LABEL_REQUIRED: "required ", F.LABEL_REPEATED: "repeated "}
_MAX = 536_870_912  # behind the highest tag
_ENUM_MAX = 2**31 - 1
_EDITIONS: dict[int, str] = {descriptor_pb2.EDITION_2023: "2023"}


def text_of(files: Sequence[FileDescriptorProto], *, sorts: bool = False) -> str:
    """Format the last of the files; the others are its imports.

    `sorts`: fields by tag, imports and options by name. Raises InvalidSchema.
    """
    try:
        return _ProtobufPrinter(files, sorts).file(files[-1])
    except TypeError as error:
        raise InvalidSchema(f"its descriptors do not fit together: {str(error)[:300]}") from None


class _ProtobufPrinter:
    def __init__(self, files: Sequence[FileDescriptorProto], sorts: bool):
        self._sorts = sorts
        self._is_proto3, self._has_labels = False, True
        self._pool = descriptor_pool.DescriptorPool()
        names = {f".{file.package}.{message.name}" for file in files for message in file.message_type}
        if ".google.protobuf.FieldOptions" not in names:  # a copy of descriptor.proto defines it itself
            self._pool.AddSerializedFile(descriptor_pb2.DESCRIPTOR.serialized_pb)
        for file in files:
            self._pool.AddSerializedFile(file.SerializeToString())
        self._names = OptionNames(files)

    def file(self, file: FileDescriptorProto) -> str:
        self._is_proto3 = file.syntax == "proto3"
        self._has_labels = file.syntax != "editions"
        lines = [_syntax(file)]
        if file.package:
            lines.append(f"package {file.package};")
        root = f"{file.package}." if file.package else ""
        imports = [self._import(file, index) for index in range(len(file.dependency))]
        options = self._options(file, "FileOptions", root)
        types = {message.name: message for message in file.message_type}
        groups = _groups(file.extension)
        blocks = [lines, self._ordered(imports), [f"option {option};" for option in options]]
        blocks += [self.message(message, root) for message in file.message_type if message.name not in groups]
        blocks += [self.enum(enum, root) for enum in file.enum_type]
        blocks += [self._extend(extension, root, types) for extension in file.extension]
        blocks += [self.service(service, root) for service in file.service]
        return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"

    def _import(self, file: FileDescriptorProto, index: int) -> str:
        kind = "public " if index in file.public_dependency else "weak " if index in file.weak_dependency else ""
        return f"import {kind}{_quoted(file.dependency[index])};"

    def _ordered(self, lines: list[str]) -> list[str]:
        return sorted(set(lines)) if self._sorts else lines

    # -- types: `around` is the full name of what an element is in, with a dot behind it

    def message(self, message: DescriptorProto, around: str, head: str = "") -> list[str]:
        types = {proto.name: proto for proto in message.nested_type}
        groups = _groups(message.field) | _groups(message.extension)
        root = f"{around}{message.name}."
        lines = [f"option {option};" for option in self._options(message, "MessageOptions", around)]
        lines += _reserved(message, _MAX)
        lines += [self._extension_range(item, around) for item in message.extension_range]
        fields = self._in_order(message.field)
        oneofs: dict[int, list[F]] = {}
        for field in fields:
            if field.HasField("oneof_index"):
                oneofs.setdefault(field.oneof_index, []).append(field)
        for field in fields:
            if not field.HasField("oneof_index") or field.proto3_optional:
                lines += self._field(field, root, types)
            elif members := oneofs.pop(field.oneof_index, []):  # all of them stand where the first one is
                lines += self._oneof(message.oneof_decl[field.oneof_index], root, members, types)
        for proto in message.nested_type:
            if not proto.options.map_entry and proto.name not in groups:
                lines += ["", *self.message(proto, root)]
        for enum in message.enum_type:
            lines += ["", *self.enum(enum, root)]
        for extension in message.extension:
            lines += ["", *self._extend(extension, root, types)]
        return [head or f"message {message.name} {{", *_indented(lines), "}"]

    def _in_order(self, fields: Iterable[Any]) -> list[Any]:
        return sorted(fields, key=lambda field: field.number) if self._sorts else list(fields)

    def _oneof(
        self, oneof: OneofDescriptorProto, around: str, members: Iterable[F], types: Mapping[str, DescriptorProto]
    ) -> list[str]:
        lines = [f"option {option};" for option in self._options(oneof, "OneofOptions", around)]
        for field in members:
            lines += self._field(field, around, types, label="")
        return [f"oneof {oneof.name} {{", *_indented(lines), "}"]

    def _field(
        self, field: F, around: str, types: Mapping[str, DescriptorProto], label: str | None = None
    ) -> list[str]:
        """Write a field. `types`: the messages beside the field, by name, of which one is its map entry or its
        group.
        """
        if label is None:
            is_plain = self._is_proto3 and field.label == F.LABEL_OPTIONAL and not field.proto3_optional
            is_plain = is_plain or (not self._has_labels and field.label == F.LABEL_OPTIONAL)
            label = "" if is_plain else _LABELS[field.label]
        options = self._field_options(field, around)
        brackets = f" [{', '.join(options)}]" if options else ""
        inner = types.get(field.type_name.rpartition(".")[2])
        if inner is not None and field.type == F.TYPE_GROUP:
            return self.message(inner, around, head=f"{label}group {inner.name} = {field.number}{brackets} {{")
        is_message = field.type == F.TYPE_MESSAGE and field.label == F.LABEL_REPEATED
        if inner is not None and is_message and inner.options.map_entry:
            kind = f"map<{_type(inner.field[0])}, {_type(inner.field[1])}>"
            return [f"{kind} {field.name} = {field.number}{brackets};"]
        return [f"{label}{_type(field)} {field.name} = {field.number}{brackets};"]

    def _field_options(self, field: F, around: str) -> list[str]:
        options = []
        if field.HasField("default_value"):
            options.append(f"default = {_default(field)}")
        if field.json_name and field.json_name != _json_name(field.name):
            options.append(f"json_name = {_quoted(field.json_name)}")
        return options + self._options(field, "FieldOptions", around)

    def enum(self, enum: EnumDescriptorProto, around: str) -> list[str]:
        lines = [f"option {option};" for option in self._options(enum, "EnumOptions", around)]
        lines += _reserved(enum, _ENUM_MAX)
        for value in self._values(enum):
            options = self._options(value, "EnumValueOptions", around)
            brackets = f" [{', '.join(options)}]" if options else ""
            lines.append(f"{value.name} = {value.number}{brackets};")
        return [f"enum {enum.name} {{", *_indented(lines), "}"]

    def _values(self, enum: EnumDescriptorProto) -> list[Any]:
        """Zero comes first in proto3, where protoc wants it, though negative numbers are less."""
        values = self._in_order(enum.value)
        return sorted(values, key=lambda value: value.number != 0) if self._sorts and self._is_proto3 else values

    def service(self, service: ServiceDescriptorProto, around: str) -> list[str]:
        root = f"{around}{service.name}."
        lines = [f"option {option};" for option in self._options(service, "ServiceOptions", around)]
        for method in service.method:
            takes = ("stream " if method.client_streaming else "") + method.input_type
            gives = ("stream " if method.server_streaming else "") + method.output_type
            options = [f"option {option};" for option in self._options(method, "MethodOptions", root)]
            head = f"rpc {method.name} ({takes}) returns ({gives})"
            lines += [f"{head} {{", *_indented(options), "}"] if options else [f"{head};"]
        return [f"service {service.name} {{", *_indented(lines), "}"]

    def _extend(self, field: F, around: str, types: Mapping[str, DescriptorProto]) -> list[str]:
        return [f"extend {field.extendee} {{", *_indented(self._field(field, around, types)), "}"]

    def _extension_range(self, range_: DescriptorProto.ExtensionRange, around: str) -> str:
        options = self._options(range_, "ExtensionRangeOptions", around)
        brackets = f" [{', '.join(options)}]" if options else ""
        return f"extensions {_range(range_.start, range_.end - 1, _MAX - 1)}{brackets};"

    # -- options

    def _options(self, described: Any, kind: str, around: str) -> list[str]:
        """Read again with what is imported: only so those that somebody has added have names.

        around: the full name of what has in it what has the options, with a dot behind it.
        """
        if not described.HasField("options"):
            return []
        options_class = message_factory.GetMessageClass(self._pool.FindMessageTypeByName(f"google.protobuf.{kind}"))
        options = options_class.FromString(described.options.SerializeToString())
        printed = []
        for field, value in options.ListFields():
            if field.name in ("map_entry", "uninterpreted_option"):
                continue
            name = self._names.printed(field.full_name, around) if field.is_extension else field.name
            printed += [f"{name} = {_option_value(field, item)}" for item in (value if field.is_repeated else [value])]
        return self._ordered(printed)


def _syntax(file: FileDescriptorProto) -> str:
    """Raises InvalidSchema."""
    if file.syntax == "editions":
        if file.edition not in _EDITIONS:
            raise InvalidSchema(f"its edition is not supported: {', '.join(_EDITIONS.values())} are")
        return f'edition = "{_EDITIONS[file.edition]}";'
    if file.syntax not in ("", "proto2", "proto3"):
        raise InvalidSchema(f"syntax {file.syntax} is not supported: proto2, proto3 and editions are")
    return f'syntax = "{file.syntax or "proto2"}";'


def _groups(fields: Iterable[F]) -> set[str]:
    """Return the names of the messages that groups of these fields define: they are printed with the field."""
    return {field.type_name.rpartition(".")[2] for field in fields if field.type == F.TYPE_GROUP}


def _option_value(field: Any, value: Any) -> str:
    if field.cpp_type == field.CPPTYPE_MESSAGE:
        return f"{{ {text_format.MessageToString(value, as_one_line=True)} }}"
    if field.cpp_type == field.CPPTYPE_ENUM:
        known = field.enum_type.values_by_number.get(value)
        return str(value if known is None else known.name)
    if field.cpp_type == field.CPPTYPE_STRING:
        return _quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


def _type(field: F) -> str:
    return _SCALARS.get(field.type) or field.type_name


def _default(field: F) -> str:
    """Return the default; in a descriptor bytes are escaped already."""
    if field.type == F.TYPE_STRING:
        return _quoted(field.default_value)
    return f'"{field.default_value}"' if field.type == F.TYPE_BYTES else field.default_value


def _quoted(value: str | bytes) -> str:
    data = value if isinstance(value, bytes) else value.encode()
    escaped = "".join(
        {34: '\\"', 92: "\\\\", 10: "\\n", 13: "\\r", 9: "\\t"}.get(number)
        or (chr(number) if 32 <= number < 127 else f"\\{number:03o}")
        for number in data
    )
    return f'"{escaped}"'


def _reserved(described: Any, highest: int) -> list[str]:
    """Return reserved ranges: those of messages end before their `end`, those of enums at it."""
    is_enum = isinstance(described, EnumDescriptorProto)
    ranges = [
        _range(increment.start, increment.end if is_enum else increment.end - 1, highest if is_enum else highest - 1)
        for increment in described.reserved_range
    ]
    names = [_quoted(item) for item in described.reserved_name]
    return [f"reserved {', '.join(item)};" for item in (ranges, names) if item]


def _range(first: int, last: int, highest: int) -> str:
    return str(first) if first == last else f"{first} to {'max' if last >= highest else last}"


def _json_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(name[:1].upper() + name[1:] for name in rest)


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]
