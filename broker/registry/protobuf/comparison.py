"""What changed from one Protobuf schema to another, field by field, by their tags; and whether what was written can
still be read. Differences are named as in the reference implementation.
"""

from collections.abc import Sequence

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as F

from broker.registry.comparison_budget import ComparisonBudget
from broker.registry.schema import SchemaDifference

INCOMPATIBLE = frozenset(
    [
        "PACKAGE_CHANGED",
        "MESSAGE_REMOVED",
        "FIELD_KIND_CHANGED",
        "FIELD_SCALAR_KIND_CHANGED",
        "FIELD_NAMED_TYPE_CHANGED",
        "FIELD_NUMERIC_LABEL_CHANGED",
        "REQUIRED_FIELD_ADDED",
        "REQUIRED_FIELD_REMOVED",
        "ONEOF_FIELD_REMOVED",
        "MULTIPLE_FIELDS_MOVED_TO_ONEOF",
        "FIELD_MOVED_TO_EXISTING_ONEOF",
    ]
)
#: Types of one group are the same on the wire.
_GROUPS = {
    kind: group
    for group, kinds in {
        "varint": (F.TYPE_INT32, F.TYPE_INT64, F.TYPE_UINT32, F.TYPE_UINT64, F.TYPE_BOOL, F.TYPE_ENUM),
        "zigzag": (F.TYPE_SINT32, F.TYPE_SINT64),
        "text": (F.TYPE_STRING, F.TYPE_BYTES),
        "fixed32": (F.TYPE_FIXED32, F.TYPE_SFIXED32),
        "fixed64": (F.TYPE_FIXED64, F.TYPE_SFIXED64),
        "float": (F.TYPE_FLOAT,),
        "double": (F.TYPE_DOUBLE,),
    }.items()
    for kind in kinds
}
_MESSAGES = (F.TYPE_MESSAGE, F.TYPE_GROUP)


def differences(
    original: Sequence[FileDescriptorProto], update: Sequence[FileDescriptorProto]
) -> list[SchemaDifference]:
    """Return the differences of the last file of each; the others are its imports.

    Raises InvalidSchema if comparing takes too long.
    """
    return _ProtobufComparison(_Types(original), _Types(update)).of_files(original[-1], update[-1])


class _Types:
    """The messages of a schema and of all it imports, by full name, each with its file."""

    def __init__(self, files: Sequence[FileDescriptorProto]):
        self.messages: dict[str, tuple[DescriptorProto, FileDescriptorProto]] = {}
        for file in files:
            root = f".{file.package}" if file.package else ""
            for message in file.message_type:
                self._add(f"{root}.{message.name}", message, file)
        self.main = files[-1]

    def _add(self, name: str, message: DescriptorProto, file: FileDescriptorProto) -> None:
        self.messages[name] = (message, file)
        for nested in message.nested_type:
            self._add(f"{name}.{nested.name}", nested, file)

    def local(self, full: str) -> str:
        """Return the name without the package of its file."""
        message = self.messages.get(full)
        package = message[1].package if message else ""
        return full.removeprefix(f".{package}.") if package else full.lstrip(".")


class _ProtobufComparison:
    def __init__(self, olds: _Types, news: _Types):
        self._olds, self._news = olds, news
        self._differences: list[SchemaDifference] = []
        self._path: list[str] = []
        self._comparing: set[tuple[str, str]] = set()
        self._incompatible_count = 0
        self._budget = ComparisonBudget()

    def of_files(self, original: FileDescriptorProto, update: FileDescriptorProto) -> list[SchemaDifference]:
        if original.package != update.package:
            self._add("PACKAGE_CHANGED")
        self._types(original.message_type, update.message_type, original.enum_type, update.enum_type)
        return self._differences

    def _add(self, type_: str, *at: str) -> None:
        path = "/".join([*self._path, *at])
        self._budget.spend_bytes(len(type_) + len(path))
        self._differences.append(SchemaDifference(type_, path))
        self._incompatible_count += type_ in INCOMPATIBLE

    def _types(
        self,
        old_messages: Sequence[DescriptorProto],
        new_messages: Sequence[DescriptorProto],
        old_enums: Sequence[EnumDescriptorProto],
        new_enums: Sequence[EnumDescriptorProto],
    ) -> None:
        olds = {message.name: (at, message) for at, message in enumerate(_written(old_messages))}
        news = {message.name: (at, message) for at, message in enumerate(_written(new_messages))}
        for name, (at, old) in olds.items():
            if name not in news:
                self._add("MESSAGE_REMOVED", name)
                continue
            if news[name][0] != at:
                self._add("MESSAGE_MOVED", name)
            self._path.append(name)
            self._message(old, news[name][1])
            self._path.pop()
        for name in news.keys() - olds.keys():
            self._add("MESSAGE_ADDED", name)
        self._enums({enum.name: enum for enum in old_enums}, {enum.name: enum for enum in new_enums})

    def _enums(self, olds: dict[str, EnumDescriptorProto], news: dict[str, EnumDescriptorProto]) -> None:
        for name in sorted(olds.keys() | news.keys()):
            if name not in news or name not in olds:
                self._add("ENUM_ADDED" if name in news else "ENUM_REMOVED", name)
                continue
            self._budget.spend_steps(len(olds[name].value) + len(news[name].value))
            was = {proto.number: proto.name for proto in olds[name].value}
            now = {proto.number: proto.name for proto in news[name].value}
            for number in sorted(was.keys() | now.keys()):
                if was.get(number) != now.get(number):
                    change = "ADDED" if number not in was else "REMOVED" if number not in now else "CHANGED"
                    self._add(f"ENUM_CONST_{change}", name, str(number))

    def _message(self, original: DescriptorProto, update: DescriptorProto) -> None:
        self._budget.spend_steps(1 + len(original.field) + len(update.field))
        self._types(original.nested_type, update.nested_type, original.enum_type, update.enum_type)
        olds = {proto.number: proto for proto in original.field}
        news = {proto.number: proto for proto in update.field}
        old_oneofs, new_oneofs = _oneofs(original), _oneofs(update)
        self._oneofs(old_oneofs, new_oneofs, set(olds))
        was_in = {number: name for name, numbers in old_oneofs.items() for number in numbers}
        is_in = {number: name for name, numbers in new_oneofs.items() for number in numbers}
        for number in sorted(olds.keys() | news.keys()):
            if number not in news:
                self._removed(olds[number], was_in.get(number, ""), new_oneofs)
            elif number not in olds:
                self._field_added(news[number], is_in.get(number, ""))
            else:
                name = is_in.get(number, "")
                if number in was_in and not name:
                    self._add("ONEOF_FIELD_MOVED_TO_TOP_LEVEL", str(number))
                self._field(olds[number], news[number], [name, str(number)] if name else [str(number)])

    def _removed(self, old: F, oneof: str, new_oneofs: dict[str, set[int]]) -> None:
        """Refuse a removed field of a oneof that stays: its writer may have meant that no other field is set."""
        if old.label == F.LABEL_REQUIRED:
            self._add("REQUIRED_FIELD_REMOVED", str(old.number))
        elif oneof and self._survives(oneof, new_oneofs):
            self._add("ONEOF_FIELD_REMOVED", oneof, str(old.number))
        else:
            self._add("FIELD_REMOVED", str(old.number))

    def _survives(self, oneof: str, new_oneofs: dict[str, set[int]]) -> bool:
        return oneof in new_oneofs or oneof in self._renamed

    def _field_added(self, new: F, oneof: str) -> None:
        if new.label == F.LABEL_REQUIRED:
            self._add("REQUIRED_FIELD_ADDED", str(new.number))
        elif oneof:
            self._add("ONEOF_FIELD_ADDED", oneof, str(new.number))
        else:
            self._add("FIELD_ADDED", str(new.number))

    def _oneofs(self, olds: dict[str, set[int]], news: dict[str, set[int]], fields: set[int]) -> None:
        """Compare oneofs. One field may move into a new oneof; several, or one into an existing oneof, were not
        exclusive before and are now.
        """
        come = {number for name, numbers in news.items() if name not in olds for number in numbers}
        self._renamed = {name for name, numbers in olds.items() if name not in news and numbers & come}
        was_in = {number: name for name, numbers in olds.items() for number in numbers}
        for name in sorted(olds.keys() | news.keys()):
            if name not in news:
                self._add("ONEOF_REMOVED", name)
            elif name not in olds:
                self._add("ONEOF_ADDED", name)
                self._filled(name, news[name] & fields, was_in)
            elif (news[name] & fields) - olds[name]:
                self._add("FIELD_MOVED_TO_EXISTING_ONEOF", name)

    def _filled(self, name: str, moved: set[int], was_in: dict[int, str]) -> None:
        sources = {was_in[number] for number in moved if number in was_in}
        from_top = {number for number in moved if number not in was_in}
        if len(moved) < 2 or (len(sources) == 1 and not from_top):
            return
        self._add("FIELD_MOVED_TO_EXISTING_ONEOF" if sources else "MULTIPLE_FIELDS_MOVED_TO_ONEOF", name)

    def _field(self, old: F, new: F, at: list[str]) -> None:
        if old.name != new.name:
            self._add("FIELD_NAME_CHANGED", *at)
        old_entry, new_entry = self._entry(old, self._olds), self._entry(new, self._news)
        if old_entry is None and new_entry is None:
            self._label(old, new, at)
        if _kind(old, old_entry) != _kind(new, new_entry):
            self._add("FIELD_KIND_CHANGED", *at)
        elif old_entry is not None and new_entry is not None:
            for mine, its in zip(old_entry.field, new_entry.field, strict=False):
                self._field_type(mine, its, at)
        else:
            self._field_type(old, new, at)

    def _field_type(self, old: F, new: F, at: list[str]) -> None:
        if _kind(old, None) != _kind(new, None):
            self._add("FIELD_KIND_CHANGED", *at)
        elif old.type in _MESSAGES:
            if not self._is_same_message(old.type_name, new.type_name):
                self._add("FIELD_NAMED_TYPE_CHANGED", *at)
        elif _GROUPS[old.type] != _GROUPS[new.type]:
            self._add("FIELD_SCALAR_KIND_CHANGED", *at)

    def _label(self, old: F, new: F, at: list[str]) -> None:
        was, is_ = old.label, new.label
        if was == is_ or old.type in _MESSAGES:
            return
        if _GROUPS.get(old.type) == "text":
            self._add("FIELD_STRING_OR_BYTES_LABEL_CHANGED", *at)
        elif old.type == new.type or _GROUPS.get(old.type) == _GROUPS.get(new.type):
            self._add("FIELD_NUMERIC_LABEL_CHANGED", *at)

    def _entry(self, field: F, types: _Types) -> DescriptorProto | None:
        """Return the entry of a map."""
        message = types.messages.get(field.type_name) if field.type == F.TYPE_MESSAGE else None
        return message[0] if message and message[0].options.map_entry else None

    def _is_same_message(self, old: str, new: str) -> bool:
        """Return whether two messages are the same by their name without the package; imported ones are compared by
        content too, which nothing else does.
        """
        if self._olds.local(old) != self._news.local(new):
            return False
        (was, file), (is_, _) = self._olds.messages[old], self._news.messages[new]
        if file is self._olds.main and self._news.messages[new][1] is self._news.main:
            return True
        if (old, new) in self._comparing:
            return True
        self._comparing.add((old, new))
        path, self._path = self._path, self._olds.local(old).split(".")
        before = self._incompatible_count
        self._message(was, is_)
        self._path = path
        return self._incompatible_count == before


def _written(messages: Sequence[DescriptorProto]) -> list[DescriptorProto]:
    return [message for message in messages if not message.options.map_entry]


def _oneofs(message: DescriptorProto) -> dict[str, set[int]]:
    """Return the oneofs without those that only make a field of proto3 optional."""
    oneofs: dict[str, set[int]] = {}
    for field in message.field:
        if field.HasField("oneof_index") and not field.proto3_optional:
            oneofs.setdefault(message.oneof_decl[field.oneof_index].name, set()).add(field.number)
    return oneofs


def _kind(field: F, entry: DescriptorProto | None) -> str:
    return "map" if entry is not None else "message" if field.type in _MESSAGES else "scalar"
