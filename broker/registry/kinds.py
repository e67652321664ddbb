"""The three kinds of schemas, each behind the same four words. One is imported when the first of its schemas comes."""

import importlib
import json
from collections.abc import Sequence
from typing import Any, Protocol

from broker.common.limits import REGISTRY_SCHEMA_BYTES_MAX
from broker.registry.errors import InvalidSchema, RegistryError
from broker.registry.schema import NamedSchema
from broker.registry.tags import TagChanges, TaggedEntities

_MODULES = {
    "AVRO": "broker.registry.avro.schema",
    "JSON": "broker.registry.json_schema.schema",
    "PROTOBUF": "broker.registry.protobuf.schema",
}
TYPES = tuple(_MODULES)


class ParsedSchema(Protocol):
    """A schema that was understood, with all it refers to."""

    #: The text that is stored, and by which a schema is recognised.
    canonical: str

    def normalized(self) -> str:
        """Return the text when order and spelling that mean nothing are not to count."""

    def incompatibilities(self, writer: Any, *, lenient: bool) -> list[str]:
        """Return why this schema cannot read data of `writer`, which is of the same kind; empty if it can."""

    def require_valid(self) -> None:
        """Raise InvalidSchema for names and defaults of a new schema that `validateNewSchemas` refuses."""

    def require_valid_fields(self) -> None:
        """Raise InvalidSchema for names of fields that `validateFields` refuses."""

    def has_top_level_field(self, name: str) -> bool:
        """Return whether the outermost type has a field of the name."""

    def with_tags(self, changes: TagChanges) -> str:
        """Return the text with other tags in it. Raises InvalidSchema where the schema lacks what is to have them."""

    def inline_tags(self) -> TaggedEntities:
        """Return the tags in the text."""

    def formatted(self, format_name: str) -> str:
        """Return the text in another of the forms of its kind; in its own if there is no such form."""


def parse(type_: str, text: str, referred: Sequence[NamedSchema], *, is_new: bool = True) -> ParsedSchema:
    """Parse a schema; `referred` has each referenced schema before those that refer to it. Raises InvalidSchema.

    What is stored already is taken as it is where only new schemas are held to a rule.
    """
    if type_ not in _MODULES:
        raise InvalidSchema(f"Invalid schema type {type_[:100]}")
    if len(text.encode()) > REGISTRY_SCHEMA_BYTES_MAX:
        raise RegistryError(42209, f"Schema is too large: more than {REGISTRY_SCHEMA_BYTES_MAX} bytes")
    try:
        parsed: ParsedSchema = importlib.import_module(_MODULES[type_]).parse(text, referred, is_new=is_new)
        if is_new:
            _require_whole_characters(parsed.canonical)
            if type_ != "PROTOBUF":
                _require_json(parsed.canonical)
    except InvalidSchema as error:
        raise InvalidSchema(f"Invalid schema of type {type_}, details: {error}") from None
    return parsed


def _require_whole_characters(text: str) -> None:
    """Require whole characters: JSON may escape half a surrogate pair, which no record and no answer can hold. Raises
    InvalidSchema.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidSchema("half of a character (a lone surrogate) stands in it; write the whole one") from None


def _require_json(text: str) -> None:
    """Raise InvalidSchema for a text with NaN, or with a number that is infinite as a double."""
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise InvalidSchema(str(error)) from None


def _refuse_constant(text: str) -> None:
    raise ValueError(f"a number in it is {text}, which is no JSON: write one that a double holds")
