"""Avro as one of the kinds of schemas."""

from collections.abc import Sequence

from broker.registry.avro.compatibility import incompatibilities
from broker.registry.avro.model import AvroType
from broker.registry.avro.parsing import parse as parse_type
from broker.registry.avro.parsing import parse_with_complaint
from broker.registry.avro.printing import canonical, normalized
from broker.registry.avro.tags import change_tags, inline_tags
from broker.registry.errors import InvalidSchema
from broker.registry.schema import NamedSchema
from broker.registry.tags import TagChanges, TaggedEntities


class AvroSchema:
    def __init__(self, type_: AvroType, referred: Sequence[NamedSchema], complaint: str = ""):
        self.type = type_
        self.canonical = canonical(type_)
        self._referred = referred
        self._complaint = complaint

    def normalized(self) -> str:
        return normalized(self.type)

    def incompatibilities(self, writer: "AvroSchema", *, lenient: bool) -> list[str]:
        return incompatibilities(self.type, writer.type)

    def require_valid(self) -> None:
        if self._complaint:
            raise InvalidSchema(self._complaint)

    def require_valid_fields(self) -> None:
        """Do nothing: Avro's parser has refused invalid names already."""

    def has_top_level_field(self, name: str) -> bool:
        return any(field.name == name for field in self.type.fields)

    def with_tags(self, changes: TagChanges) -> str:
        type_, _ = _parse(self.canonical, self._referred, is_whole=False)
        change_tags(type_, changes)
        return canonical(type_)

    def inline_tags(self) -> TaggedEntities:
        return inline_tags(self.type)

    def formatted(self, format_name: str) -> str:
        """Return the text in a format. `resolved`: references are written out where they first occur."""
        if format_name != "resolved" or not self._referred:
            return self.canonical
        return canonical(_parse(self.canonical, self._referred, is_whole=True)[0])


def parse(text: str, referred: Sequence[NamedSchema], *, is_new: bool) -> AvroSchema:
    """Raises InvalidSchema. Names and defaults that Avro does not allow are for `require_valid`, new or not."""
    type_, complaint = _parse(text, referred, is_whole=False)
    return AvroSchema(type_, tuple(referred), complaint)


def _parse(text: str, referred: Sequence[NamedSchema], *, is_whole: bool) -> tuple[AvroType, str]:
    names: dict[str, AvroType] = {}
    for named in referred:
        if named.content.type != "AVRO":
            raise InvalidSchema(f"{named.name} is no Avro schema but {named.content.type}")
        names = parse_type(named.content.text, names, checks_defaults=False)[1]
    for known in names.values():
        known.is_referred = not is_whole
    return parse_with_complaint(text, names)
