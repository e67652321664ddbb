"""Avro schemas of records, read by the registry's own parser, which bounds their depth; their size is bounded here.

Pure.
"""

from broker.registry.avro.model import AvroType
from broker.registry.avro.parsing import parse
from broker.registry.errors import InvalidSchema
from console.cluster.schemas.errors import UnusableSchemaError

#: Levels of a value; each is a few calls of Python.
DEPTH_MAX = 64
#: Types in a schema with the schemas that it refers to.
TYPES_MAX = 20_000


def read_schema(text: str, referred: tuple[str, ...] = ()) -> AvroType:
    """Return the type that `text` defines. `referred` are texts that define names which `text` uses, each after those
    that it uses itself. Raises UnusableSchemaError."""
    names: dict[str, AvroType] = {}
    try:
        for definition in referred:
            avro_type, names = parse(definition, names, checks_defaults=False)
            _check_size(avro_type, names)
            for type_ in names.values():
                type_.is_referred = True
        avro_type, names = parse(text, names, checks_defaults=False)
    except InvalidSchema as error:
        raise UnusableSchemaError(f"the schema is no Avro schema: {error}") from None
    _check_size(avro_type, names)
    return avro_type


def _check_size(root: AvroType, names: dict[str, AvroType]) -> None:
    """Raise UnusableSchemaError where `root` and `names` consist of more than TYPES_MAX types."""
    waiting, known = [root, *names.values()], set[int]()
    while waiting:
        type_ = waiting.pop()
        if id(type_) in known:
            continue
        known.add(id(type_))
        if len(known) > TYPES_MAX:
            raise UnusableSchemaError(f"the schema consists of more than {TYPES_MAX} types")
        waiting += type_.inner
        waiting += [field.type for field in type_.fields]
