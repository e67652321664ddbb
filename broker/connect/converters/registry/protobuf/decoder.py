"""A Protobuf message as a struct of Connect, with what makes each other's values of values. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from confluent_kafka.schema_registry.confluent import meta_pb2
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor, OneofDescriptor
from google.protobuf.descriptor_pb2 import FieldOptions, FileDescriptorProto, MessageOptions

from broker.connect.api import DataError, Field, Schema, Struct, Type
from broker.connect.api.schema import DECIMAL, SCALE, TIMESTAMP, validate_value
from broker.connect.converters.registry.protobuf import connect_names
from broker.connect.converters.registry.protobuf.logical import LOGICAL_VALUES
from broker.connect.converters.registry.protobuf.nodes import Make, MessagePart, ProtobufNode, ProtobufOptions
from broker.registry.protobuf.compiler import MAIN

_FD = FieldDescriptor
#: Generated: what it has is known when it is imported.
_META: Any = meta_pb2
_SCALARS = {
    **dict.fromkeys((_FD.TYPE_INT32, _FD.TYPE_SINT32, _FD.TYPE_SFIXED32), Type.INT32),
    **dict.fromkeys((_FD.TYPE_UINT32, _FD.TYPE_FIXED32, _FD.TYPE_INT64, _FD.TYPE_UINT64), Type.INT64),
    **dict.fromkeys((_FD.TYPE_SINT64, _FD.TYPE_FIXED64, _FD.TYPE_SFIXED64), Type.INT64),
    _FD.TYPE_FLOAT: Type.FLOAT32,
    _FD.TYPE_DOUBLE: Type.FLOAT64,
    _FD.TYPE_BOOL: Type.BOOLEAN,
    _FD.TYPE_STRING: Type.STRING,
    _FD.TYPE_ENUM: Type.STRING,
    _FD.TYPE_BYTES: Type.BYTES,
}
_UNSIGNED = (_FD.TYPE_UINT64, _FD.TYPE_FIXED64)
_SMALL = {type_.value: type_ for type_ in (Type.INT8, Type.INT16)}
_LOGICAL = {message: name for name, (message, _) in connect_names.LOGICAL.items()}
_WRAPPERS = {f"google.protobuf.{item}Value" for item in
             ("Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "Bool", "String", "Bytes")}  # fmt: skip


class MessageReader:
    """The messages of a file, and what is in them."""

    def __init__(self, files: Sequence[FileDescriptorProto], options: ProtobufOptions):
        """Raises DataError."""
        pool = descriptor_pool.DescriptorPool()
        try:
            for file in files:
                pool.Add(file)
            self._main: FileDescriptor = pool.FindFileByName(MAIN)
        except (KeyError, TypeError) as error:
            raise DataError(f"Invalid Protobuf schema: {error}") from None
        self._proto, self._options = files[-1], options
        self._open: set[str] = set()

    def message(self, path: tuple[int, ...]) -> tuple[Any, ProtobufNode]:
        """Return the class of the message at an index path, and its type. Raises DataError."""
        descriptor = self._at(path)
        return message_factory.GetMessageClass(descriptor), self._struct(descriptor)

    def path_of(self, name: str) -> tuple[int, ...]:
        """Return the indexes of the message with that full name; those of the first message without a name."""
        for at, proto in enumerate(self._proto.message_type):
            if ".".join(filter(None, (self._proto.package, proto.name))) == name:
                return (at,)
        return (0,)

    def _at(self, path: tuple[int, ...]) -> Descriptor:
        level: Any = self._proto.message_type
        names = []
        for index in path:
            if not 0 <= index < len(level):
                raise DataError(f"Invalid Protobuf message indexes: there is no message {list(path)}")
            names.append(level[index].name)
            level = level[index].nested_type
        descriptor: Descriptor = self._main.message_types_by_name[names[0]]
        for name in names[1:]:
            descriptor = descriptor.nested_types_by_name[name]
        return descriptor

    def _struct(self, descriptor: Descriptor) -> ProtobufNode:
        if descriptor.full_name in self._open:
            raise DataError("A schema that contains itself, which Connect has no schema for")
        self._open.add(descriptor.full_name)
        parts: list[MessagePart] = []
        oneofs: set[str] = set()
        for field in descriptor.fields:
            oneof = field.containing_oneof
            if oneof is None or _is_synthetic(field):
                parts.append(self._part(field))
            elif oneof.name not in oneofs:
                oneofs.add(oneof.name)
                parts.append(self._union(oneof))
        self._open.discard(descriptor.full_name)
        meta = MessageOptions.FromString(descriptor.GetOptions().SerializeToString()).Extensions[_META.message_meta]
        params = dict(meta.params)
        is_named = not descriptor.name.startswith(connect_names.DEFAULT_NAME)
        name = params.pop(connect_names.NAME, descriptor.full_name if is_named else None)
        schema = Schema(
            Type.STRUCT,
            False,
            name,
            _version(params),
            meta.doc or None,
            params,
            None,
            tuple(part.field for part in parts),
        )
        return ProtobufNode(schema, *_struct_values(message_factory.GetMessageClass(descriptor), parts, self._options))

    def _part(self, field: FieldDescriptor) -> MessagePart:
        schema, put, get = self._field(field)
        parameters = {**schema.parameters, connect_names.TAG: str(field.number)}
        is_optional = schema.optional or self._is_optional(field)
        schema = replace(schema, parameters=parameters, optional=is_optional)
        return MessagePart(Field(field.name, schema), put(schema), get(schema))

    def _is_optional(self, field: FieldDescriptor) -> bool:
        if self._options.uses_optional:
            return _is_synthetic(field)
        return not field.is_required

    def _field(self, field: FieldDescriptor) -> tuple[Schema, Any, Any]:
        """Return schema, and the functions that set and get the field's value."""
        if field.is_repeated and _is_entry(field):
            return self._map(field)
        node = self._type(field)
        if field.is_repeated:
            schema = _about(field, Schema(Type.ARRAY, value_schema=node.schema), set())
            return schema, _put_list(field, node), _get_list(field, node)
        return node.schema, _put_one(field, node), _get_one(field, node)

    def _map(self, field: FieldDescriptor) -> tuple[Schema, Any, Any]:
        keys, values = (self._part(field.message_type.fields_by_name[name]) for name in ("key", "value"))
        is_map = field.message_type.GetOptions().map_entry
        schemas = [_without_tag(part.field.schema) for part in (keys, values)]
        if is_map:
            schemas = [replace(schema, optional=False) for schema in schemas]
        schema = _about(field, Schema(Type.MAP, key_schema=schemas[0], value_schema=schemas[1]), set())
        if not is_map:
            return schema, _put_entries(field, keys, values), _get_entries(field, keys, values)
        nodes = [
            replace(self._type(field.message_type.fields_by_name[name]), schema=item)
            for name, item in zip(("key", "value"), schemas, strict=True)
        ]
        return schema, _put_map(field, *nodes), _get_map(field, *nodes)

    def _type(self, field: FieldDescriptor) -> ProtobufNode:
        """Return the node of one value of the field."""
        if field.type in (_FD.TYPE_MESSAGE, _FD.TYPE_GROUP):
            name = field.message_type.full_name
            if name in _LOGICAL:
                return _logical_node(field, _LOGICAL[name])
            if name in _WRAPPERS:
                inner = self._type(field.message_type.fields_by_name["value"])
                make = message_factory.GetMessageClass(field.message_type)
                return ProtobufNode(
                    _about(field, replace(inner.schema, optional=not field.is_repeated), {connect_names.TYPE}),
                    lambda value: make(value=inner.to(value)),
                    lambda schema, value: value.value,
                )
            return self._struct(field.message_type)
        return _scalar_node(field)

    def _union(self, oneof: OneofDescriptor) -> MessagePart:
        parts = []
        for field in oneof.fields:
            part = self._part(field)
            schema = replace(part.field.schema, optional=True)
            parts.append(replace(part, field=Field(field.name, schema)))
        name = f"{oneof.name}_{oneof.index}"
        schema = Schema(
            Type.STRUCT, True, f"{connect_names.UNION}{oneof.name}", fields=tuple(part.field for part in parts)
        )  # fmt: skip
        by_name = {part.field.name: part for part in parts}
        rename = self._options.rename

        def put(message: Any, value: Any) -> None:
            given = [key for key, item in value.items() if item is not None] if isinstance(value, Struct) else []
            if value is not None and (len(given) != 1 or rename(given[0]) not in by_name):
                raise DataError("Invalid value: of a union exactly one field has a value")
            for key in given:
                by_name[rename(key)].put(message, value[key])

        def get(message: Any) -> Any:
            chosen = message.WhichOneof(oneof.name)
            return None if chosen is None else Struct(schema, {chosen: by_name[chosen].get(message)})

        return MessagePart(Field(name, schema), put, get)


def _is_synthetic(field: FieldDescriptor) -> bool:
    """Return whether the oneof only stands for the word `optional` in proto3."""
    oneof = field.containing_oneof
    return oneof is not None and len(oneof.fields) == 1 and oneof.name == f"_{field.name}"


def _is_entry(field: FieldDescriptor) -> bool:
    message = field.message_type
    if message is None:
        return False
    return message.GetOptions().map_entry or (
        message.name.endswith(connect_names.ENTRY) and {field.name for field in message.fields} == {"key", "value"}
    )


def _about(field: FieldDescriptor, schema: Schema, known: set[str]) -> Schema:
    """Return the schema with Confluent's options; those in `known` are left out."""
    meta = FieldOptions.FromString(field.GetOptions().SerializeToString()).Extensions[_META.field_meta]
    params = {key: value for key, value in meta.params.items() if key not in known}
    name, version = params.pop(connect_names.NAME, schema.name), _version(params)
    return replace(
        schema,
        name=name,
        version=schema.version if version is None else version,
        doc=meta.doc or schema.doc,
        parameters={**schema.parameters, **params},
    )


def _version(params: dict[str, str]) -> int | None:
    version = params.pop(connect_names.VERSION, "")
    return int(version) if version.isascii() and version.isdigit() and len(version) < 10 else None


def _scalar_node(field: FieldDescriptor) -> ProtobufNode:
    meta = FieldOptions.FromString(field.GetOptions().SerializeToString()).Extensions[_META.field_meta]
    kind = _SCALARS[field.type]
    if kind is Type.INT32:
        kind = _SMALL.get(meta.params.get(connect_names.TYPE, ""), kind)
    if field.type == _FD.TYPE_ENUM:
        return _enum_node(field)
    plain = Schema(kind)

    def to(value: Any) -> Any:
        validate_value(plain, value)
        return bytes(value) if kind is Type.BYTES else value

    def of(schema: Schema, value: Any) -> Any:
        if field.type in _UNSIGNED and value >= 1 << 63:
            return value - (1 << 64)
        validate_value(plain, value)
        return value

    def unsigned(value: Any) -> Any:
        return to(value) % (1 << 64)

    return ProtobufNode(_about(field, plain, {connect_names.TYPE}), unsigned if field.type in _UNSIGNED else to, of)


def _enum_node(field: FieldDescriptor) -> ProtobufNode:
    values = field.enum_type.values
    parameters = {
        connect_names.ENUM: field.enum_type.name,
        **{f"{connect_names.ENUM}.{value.name}": str(value.number) for value in values},
    }

    def to(value: Any) -> Any:
        enum_value = field.enum_type.values_by_name.get(value)
        if enum_value is None:
            raise DataError(f"{str(value)[:200]} is no value of {field.enum_type.full_name}")
        return enum_value.number

    def of(schema: Schema, value: Any) -> Any:
        enum_value = field.enum_type.values_by_number.get(value)
        if enum_value is None:
            raise DataError(f"{value} is no value of {field.enum_type.full_name}")
        return enum_value.name

    return ProtobufNode(_about(field, Schema(Type.STRING, parameters=parameters), set()), to, of)


def _logical_node(field: FieldDescriptor, name: str) -> ProtobufNode:
    types = {DECIMAL: Type.BYTES, TIMESTAMP: Type.INT64}
    schema = _about(field, Schema(types.get(name, Type.INT32), False, name, 1), {"precision"})
    if name == DECIMAL:
        schema = replace(schema, parameters={SCALE: "0", **schema.parameters})
    make = message_factory.GetMessageClass(field.message_type)
    to, of = LOGICAL_VALUES[name]

    def written(value: Any) -> Any:
        validate_value(schema, value)
        return to(make, schema, value)

    return ProtobufNode(schema, written, of)


def _without_tag(schema: Schema) -> Schema:
    parameters = {key: item for key, item in schema.parameters.items() if key != connect_names.TAG}
    return replace(schema, parameters=parameters)


def _struct_values(
    make: Any, parts: list[MessagePart], options: ProtobufOptions
) -> tuple[Make, Callable[[Schema, Any], Any]]:
    def to(value: Any) -> Any:
        if not isinstance(value, Struct):
            raise DataError(f"Invalid value: {type(value).__name__} is no struct")
        message, known = make(), {options.rename(field.name): field for field in value.schema.fields}
        for part in parts:
            field = known.get(part.field.name)
            part.put(message, None if field is None else field_value(value, field))
        return message

    def field_value(value: Struct, field: Field) -> Any:
        keeps_null = options.keeps_nulls and field.schema.optional
        return value.without_default(field.name) if keeps_null else value[field.name]

    def of(schema: Schema, message: Any) -> Any:
        return Struct(schema, {part.field.name: part.get(message) for part in parts})

    return to, of


def _put_one(field: FieldDescriptor, node: ProtobufNode) -> Any:
    is_message = field.message_type is not None

    def with_schema(schema: Schema) -> Any:
        def put(message: Any, value: Any) -> None:
            if value is None:
                if not schema.optional:
                    raise DataError(f"Invalid value: null used for required field: {field.name}")
            elif is_message:
                getattr(message, field.name).CopyFrom(node.to(value))
                getattr(message, field.name).SetInParent()
            else:
                setattr(message, field.name, node.to(value))

        return put

    return with_schema


def _get_one(field: FieldDescriptor, node: ProtobufNode) -> Any:
    def with_schema(schema: Schema) -> Any:
        def get(message: Any) -> Any:
            if schema.optional and field.has_presence and not message.HasField(field.name):
                return None
            return node.of(schema, getattr(message, field.name))

        return get

    return with_schema


def _put_list(field: FieldDescriptor, node: ProtobufNode) -> Any:
    def put(message: Any, value: Any) -> None:
        if value is not None and not isinstance(value, list | tuple):
            raise DataError(f"Invalid type for array: {type(value).__name__}")
        if value and any(entry is None for entry in value):
            raise DataError("Protobuf has no null within an array")
        getattr(message, field.name).extend([node.to(item) for item in value or ()])

    return lambda schema: put


def _get_list(field: FieldDescriptor, node: ProtobufNode) -> Any:
    return lambda schema: lambda message: [node.of(node.schema, item) for item in getattr(message, field.name)]


def _pairs(value: Any) -> list[tuple[Any, Any]]:
    if value is not None and not isinstance(value, dict):
        raise DataError(f"Invalid type for map: {type(value).__name__}")
    return list((value or {}).items())


def _put_map(field: FieldDescriptor, keys: ProtobufNode, values: ProtobufNode) -> Any:
    is_message = field.message_type.fields_by_name["value"].message_type is not None

    def put(message: Any, value: Any) -> None:
        entries = getattr(message, field.name)
        for key, pair in _pairs(value):
            if key is None or pair is None:
                raise DataError("Protobuf has no null within a map")
            if is_message:
                entries[keys.to(key)].CopyFrom(values.to(pair))
            else:
                entries[keys.to(key)] = values.to(pair)

    return lambda schema: put


def _get_map(field: FieldDescriptor, keys: ProtobufNode, values: ProtobufNode) -> Any:
    return lambda schema: (
        lambda message: {
            keys.of(keys.schema, key): values.of(values.schema, item)
            for key, item in getattr(message, field.name).items()
        }
    )


def _put_entries(field: FieldDescriptor, keys: MessagePart, values: MessagePart) -> Any:
    def put(message: Any, value: Any) -> None:
        for key, pair in _pairs(value):
            entry = getattr(message, field.name).add()
            keys.put(entry, key)
            values.put(entry, pair)

    return lambda schema: put


def _get_entries(field: FieldDescriptor, keys: MessagePart, values: MessagePart) -> Any:
    def get(message: Any) -> Any:
        try:
            return {keys.get(value): values.get(value) for value in getattr(message, field.name)}
        except TypeError:
            raise DataError("A map whose keys cannot be compared") from None

    return lambda schema: get
