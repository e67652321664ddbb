"""What a schema is to the registry, before anybody looks into its text. Pure."""

from dataclasses import dataclass
from typing import NamedTuple

AVRO = "AVRO"


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """Reference of a schema to another: `name` is how the text refers to it (Avro name, `$ref`, import path)."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class Content:
    """What a schema is identified by, within its context. Metadata and rules are canonical JSON, or nothing."""

    type: str
    text: str
    references: tuple[SchemaReference, ...] = ()
    metadata: str = ""
    rule_set: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """A schema under a subject. `deleted`: softly, so that ids still find it."""

    subject: str
    version: int
    id: int
    content: Content
    deleted: bool = False
    #: Milliseconds since 1970, when its record was written; 0 for one that is not yet.
    timestamp_ms: int = 0


@dataclass(frozen=True, slots=True)
class NamedSchema:
    """A schema that another refers to, under the name it has there, with what it refers to itself."""

    name: str
    content: Content
    subject: str
    version: int


class SchemaDifference(NamedTuple):
    """What a new schema changes and where, in Confluent's words for JSON Schema and Protobuf."""

    type: str
    path: str

    def __str__(self) -> str:
        return f"{self.type} #/{self.path}"

    @property
    def explanation(self) -> str:
        words = self.type.lower().replace("_", " ")
        return f'{{errorType:"{self.type}", description:"At path \'#/{self.path}\': {words}"}}'
