"""Avro as one of the kinds of schemas."""

from collections.abc import Sequence

from broker.registry.avro.compatibility import incompatibilities
from broker.registry.avro.model import AvroType
from broker.registry.avro.parsing import parse as parse_type
from broker.registry.avro.printing import canonical, normalized
from broker.registry.errors import InvalidSchema
from broker.registry.schema import NamedSchema


class AvroSchema:
    def __init__(self, type_: AvroType, referred: Sequence[NamedSchema]):
        self.type = type_
        self.canonical = canonical(type_)
        self._referred = referred

    def normalized(self) -> str:
        return normalized(self.type)

    def incompatibilities(self, writer: "AvroSchema", *, lenient: bool) -> list[str]:
        return incompatibilities(self.type, writer.type)

    def formatted(self, format_name: str) -> str:
        """`resolved`: with what it refers to written out where it is first met."""
        if format_name != "resolved" or not self._referred:
            return self.canonical
        return canonical(_parse(self.canonical, self._referred, is_new=False, is_whole=True))


def parse(text: str, referred: Sequence[NamedSchema], *, is_new: bool) -> AvroSchema:
    """Raises InvalidSchema. Defaults that do not fit their type are refused in new schemas only."""
    return AvroSchema(_parse(text, referred, is_new=is_new, is_whole=False), tuple(referred))


def _parse(text: str, referred: Sequence[NamedSchema], *, is_new: bool, is_whole: bool) -> AvroType:
    names: dict[str, AvroType] = {}
    for named in referred:
        if named.content.type != "AVRO":
            raise InvalidSchema(f"{named.name} is no Avro schema but {named.content.type}")
        names = parse_type(named.content.text, names, checks_defaults=False)[1]
    for known in names.values():
        known.is_referred = not is_whole
    return parse_type(text, names, checks_defaults=is_new)[0]
