"""Protobuf as one of the kinds of schemas: a text, or a descriptor in base64 as serializers send it."""

import base64
import binascii
from collections.abc import Mapping, Sequence

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError

from broker.registry.errors import InvalidSchema
from broker.registry.protobuf.comparison import INCOMPATIBLE, differences
from broker.registry.protobuf.compiler import MAIN, compile_files, is_path
from broker.registry.protobuf.left_out import (
    KnownExtensions,
    extensions_of,
    has_undefined_option,
    missing_imports,
    tidied,
    without_imports,
    without_options,
)
from broker.registry.protobuf.option_names import hidden_options, with_dots
from broker.registry.protobuf.printing import text_of
from broker.registry.schema import NamedSchema
from broker.registry.tags import TagChanges, TaggedEntities


class ProtobufSchema:
    """`text`: what is stored where it is not what the printer makes of the files, which lack what was left out."""

    def __init__(self, files: Sequence[FileDescriptorProto], text: str = ""):
        #: The last is the schema, the others what it imports.
        self.files = files
        self._text = text
        self.canonical = text or text_of(files)

    def normalized(self) -> str:
        return self._text or text_of(self.files, sorts=True)

    def incompatibilities(self, writer: "ProtobufSchema", *, lenient: bool) -> list[str]:
        schema_differences = differences(writer.files, self.files)
        return [item.explanation for item in schema_differences if item.type in INCOMPATIBLE]

    def require_valid(self) -> None:
        """Raise InvalidSchema if the compiler refuses the schema, whether it is new or not."""

    def require_valid_fields(self) -> None:
        """Do nothing: the compiler has refused invalid names already."""

    def has_top_level_field(self, name: str) -> bool:
        return any(field.name == name for message in self.files[-1].message_type for field in message.field)

    def with_tags(self, changes: TagChanges) -> str:
        from broker.registry.protobuf.tags import META, with_tags

        if self._text:
            raise InvalidSchema("its tags cannot be changed, as it imports files that are missing: refer to them")
        changed = with_tags(self.files[-1], changes)
        meta = compile_files(_known(f'import "{META}"', {}) | {MAIN: f'syntax = "proto3"; import "{META}";'})[:-1]
        present = {file.name for file in self.files}
        return text_of([*(file for file in meta if file.name not in present), *self.files[:-1], changed])

    def inline_tags(self) -> TaggedEntities:
        from broker.registry.protobuf.tags import inline_tags

        return inline_tags(self.files)

    def formatted(self, format_name: str) -> str:
        """Return the text in a format. `serialized`: the descriptor in base64, as deserializers want it."""
        if format_name != "serialized":
            return self.canonical
        return base64.b64encode(self.files[-1].SerializeToString()).decode()


def parse(text: str, referred: Sequence[NamedSchema], *, is_new: bool) -> ProtobufSchema:
    """Raises InvalidSchema."""
    files = {}
    for named in referred:
        if named.content.type != "PROTOBUF":
            raise InvalidSchema(f"{named.name} is no Protobuf schema but {named.content.type}")
        files[named.name] = named.content.text
    descriptor = _descriptor(text)
    if descriptor is not None:
        text = _text_of_descriptor(descriptor, files)
    schema = _compiled(text, files)
    if is_new:
        _require_readable(schema, files)
    return schema


def _compiled(text: str, files: Mapping[str, str]) -> ProtobufSchema:
    """Raises InvalidSchema. An option whose name a scope hides is looked up from the root, as Wire finds it, too."""
    every, rooted = {**files, **_known(text, files), MAIN: text}, frozenset[str]()
    for _ in range(_ROUNDS_MAX):
        try:
            return _whole_or_left_out(every)
        except InvalidSchema as error:
            hidden = hidden_options(str(error)) - rooted
            if not hidden:
                raise
            rooted |= hidden
            every = {path: with_dots(content, hidden) for path, content in every.items()}
    raise InvalidSchema(f"scopes hide the names of more than {len(rooted)} options: write a dot before them")


def _whole_or_left_out(every: Mapping[str, str]) -> ProtobufSchema:
    """Raises InvalidSchema. Imports that are missing are left out where only options need them, and so are options that
    nothing defines.
    """
    try:
        return ProtobufSchema(compile_files(every))
    except InvalidSchema as error:
        missing = _missing(every, error)
        if not missing and not has_undefined_option(str(error)):
            raise
        plain, bare = _bare(every, missing)
    known = extensions_of(bare)
    left = {path: without_options(content, known) for path, content in plain.items()}
    text = every[MAIN]
    return ProtobufSchema(compile_files(left), tidied(text) if left[MAIN] != text else "")


def _missing(every: Mapping[str, str], error: InvalidSchema) -> frozenset[str]:
    return frozenset(path for path in missing_imports(str(error)) if is_path(path) and path not in every)


def _bare(every: Mapping[str, str], missing: frozenset[str]) -> tuple[dict[str, str], list[FileDescriptorProto]]:
    """Return the texts without the missing imports, and what they are without any custom option. Raises InvalidSchema.

    The compiler tells of some missing imports at once, and of more when these are gone.
    """
    for _ in range(_ROUNDS_MAX):
        plain = {path: without_imports(content, missing) for path, content in every.items()}
        try:
            return plain, compile_files(
                {path: without_options(content, KnownExtensions()) for path, content in plain.items()}
            )
        except InvalidSchema as error:
            more = _missing(every, error) - missing
            if not more:
                raise
            missing |= more
    raise InvalidSchema(f"it imports too many files that are missing, {len(missing)} at least")


def _require_readable(schema: ProtobufSchema, files: dict[str, str]) -> None:
    """Raise InvalidSchema for a schema whose stored text protoc would not read again."""
    try:
        _compiled(schema.canonical, files)
    except InvalidSchema as error:
        raise InvalidSchema(f"the registry cannot print it in a way that protoc reads: {error}") from None


def _descriptor(text: str) -> FileDescriptorProto | None:
    """Return the descriptor; None for a .proto text, whose blanks, braces and semicolons are not of base64."""
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
        return FileDescriptorProto.FromString(data) if data and not _is_text(text) else None
    except (binascii.Error, ValueError, DecodeError):
        return None


def _is_text(text: str) -> bool:
    return any(name in text for name in "{};\"'")


def _text_of_descriptor(descriptor: FileDescriptorProto, files: dict[str, str]) -> str:
    """Return the text of a descriptor. Only the names of its imports are needed, so an empty file that imports them all
    is compiled.
    """
    imports = "".join(f'import "{name}";\n' for name in descriptor.dependency if '"' not in name and "\\" not in name)
    around = f'syntax = "proto3";\n{imports}'
    dependencies = list(compile_files(files | _known(around, files) | {MAIN: around}))[:-1]
    own = FileDescriptorProto()
    own.CopyFrom(descriptor)
    own.name = MAIN
    own.ClearField("source_code_info")
    return text_of([*dependencies, own])


#: Compilations to find what is missing, or hidden: each tells of some twenty imports, or of one option.
_ROUNDS_MAX = 20
#: A type that Confluent's registry knows, and its Python client does not.
_VARIANT = """syntax = "proto3";
package confluent.type;
option java_package = "io.confluent.protobuf.type";
option java_outer_classname = "VariantProto";
option java_multiple_files = true;
message Variant {
  bytes metadata = 1;
  bytes value = 2;
}
"""


def _known(text: str, files: Mapping[str, str]) -> dict[str, str]:
    """Return the well-known imports: Confluent's are added, Google's are where protoc looks."""
    if "confluent/" not in text and not any("confluent/" in file for file in files.values()):
        return {}
    from confluent_kafka.schema_registry.confluent import meta_pb2
    from confluent_kafka.schema_registry.confluent.type import decimal_pb2
    from google.protobuf import descriptor_pb2

    described = [descriptor_pb2.DESCRIPTOR, meta_pb2.DESCRIPTOR, decimal_pb2.DESCRIPTOR]
    protos = [FileDescriptorProto.FromString(item.serialized_pb) for item in described]
    known = {proto.name: text_of([*protos[:at], proto]) for at, proto in enumerate(protos) if at}
    known["confluent/type/variant.proto"] = _VARIANT
    return {name: content for name, content in known.items() if name not in files}
