"""Records by the schemas of the registry: Confluent's frame, a schema by its id, kept; and a page's share of both.

The frame is a zero, the id in four bytes, and the message. A schema never changes under its id, so it is kept for good;
that there is none of an id is kept for a while.
"""

import json
import struct
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from broker.registry.avro.model import AvroType
from console.cluster.schemas import json_check
from console.cluster.schemas.avro_decoding import decode as avro_decode
from console.cluster.schemas.avro_encoding import encode as avro_encode
from console.cluster.schemas.avro_schema import read_schema
from console.cluster.schemas.errors import CodecError, NotEncodedError, UnusableSchemaError
from console.cluster.schemas.protobuf import ProtobufText
from console.cluster.schemas.registry import REFERENCES_MAX, RegisteredText, RegistryGateway, registry
from console.kit.common.current_cluster import here
from console.kit.gateway.errors import GatewayError, RefusedError

FRAME_BYTES = 5
#: What is longer is not decoded: its values hold some thirty times its bytes.
DECODED_BYTES_MAX = 1024 * 1024
#: Schemas kept, and the letters of all of them.
KEPT_MAX = 1_000
KEPT_LETTERS_MAX = 16 * 1024 * 1024
UNKNOWN_KEPT_S = 30.0
#: Of one page: schemas asked for that are not kept yet, and seconds for all that is decoded.
LOOKUPS_PER_PAGE = 25
#: Of these, for what may be Java's serialised long: every number of a topic of longs could name another id.
LONG_LOOKUPS_PER_PAGE = 5
#: Java's serialised long is as long as a framed message of three bytes; the registry decides which of both it is.
LONG_BYTES = 8
SECONDS_PER_PAGE = 2.0


@dataclass(frozen=True, slots=True)
class Usable:
    """A schema ready to be used. `reader` is a Type for Avro, a ProtobufSchema, or nothing for JSON."""

    schema: RegisteredText
    reader: AvroType | ProtobufText | None
    referred: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Decoded:
    """`text` is JSON; empty if it could not be decoded, and `problem` says why."""

    schema_id: int
    type: str = ""
    text: str = ""
    problem: str = ""


def schema_id_of(data: bytes | None) -> int | None:
    """Return the id that the frame names, or None for what is not framed: no schema has the id 0."""
    if not data or data[0] != 0 or len(data) < FRAME_BYTES:
        return None
    (schema_id,) = struct.unpack(">i", data[1:FRAME_BYTES])
    return schema_id if schema_id > 0 else None


def usable(gateway: RegistryGateway, schema: RegisteredText, again: Callable[[], RegisteredText]) -> Usable:
    """Return a schema to decode with. `again` fetches it as a descriptor, where it is Protobuf. Raises CodecError,
    GatewayError.
    """
    if schema.type == "AVRO":
        referred = _referred(gateway, schema, "")
        return Usable(schema, read_schema(schema.text, tuple(referred.values())))
    if schema.type == "PROTOBUF":
        return Usable(schema, ProtobufText(again().text, _referred(gateway, schema, "serialized")))
    if schema.type == "JSON":
        return Usable(schema, None, tuple(_referred(gateway, schema, "").items()))
    raise UnusableSchemaError(f"schemas of type {schema.type} are not known to the console")


def _referred(gateway: RegistryGateway, schema: RegisteredText, form: str) -> dict[str, str]:
    """Name → text of all it refers to, each after what it refers to itself."""
    texts: dict[str, str] = {}
    begun: set[tuple[str, int]] = set()

    def visit(schema: RegisteredText) -> None:
        for reference in schema.references:
            place = (reference.subject, reference.version)
            if place in begun:
                continue
            begun.add(place)
            if len(begun) > REFERENCES_MAX:
                raise UnusableSchemaError(f"it refers to more than {REFERENCES_MAX} schemas")
            inner = gateway.version(reference.subject, reference.version, form=form)
            visit(inner)
            texts[reference.name] = inner.text

    visit(schema)
    return texts


def decoded(ready: Usable, schema_id: int, message: bytes) -> Decoded:
    kind = ready.schema.type
    try:
        if isinstance(ready.reader, AvroType):
            value = avro_decode(ready.reader, message)
        elif ready.reader is not None:
            value = ready.reader.decode(message)
        else:
            return Decoded(schema_id, kind, message.decode())
        return Decoded(schema_id, kind, json.dumps(value, ensure_ascii=False))
    except UnicodeDecodeError:
        return Decoded(schema_id, kind, problem="it is no UTF-8")
    except (CodecError, ValueError, RecursionError) as error:
        return Decoded(schema_id, kind, problem=str(error))


def encoded(ready: Usable, typed: str) -> bytes:
    """Encode typed JSON, framed with the schema's id. Raises NotEncodedError with the field that does not fit."""
    try:
        value = json.loads(typed, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise NotEncodedError(f"this is no JSON: {error}") from None
    if isinstance(ready.reader, AvroType):
        message = avro_encode(ready.reader, value)
    elif ready.reader is not None:
        message = ready.reader.encode(value)
    else:
        json_check.check(ready.schema.text, dict(ready.referred), typed)
        message = typed.encode()
    return b"\0" + struct.pack(">i", ready.schema.id) + message


def _refuse_constant(word: str) -> None:
    raise ValueError(f'{word} is written as a text, "{word}"')


class KeptSchemas:
    """Schemas by id; any number of threads use it. For an unusable one the reason is kept."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic):
        self._now_s = now_s
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Usable] = OrderedDict()
        self._letters = 0
        self._unusable: OrderedDict[int, tuple[float, str]] = OrderedDict()

    def kept(self, schema_id: int) -> Usable | str | None:
        """Return the cached schema or its error; None if it has to be fetched."""
        with self._lock:
            if schema_id in self._kept:
                self._kept.move_to_end(schema_id)
                return self._kept[schema_id]
            until, why = self._unusable.get(schema_id, (0.0, ""))
            return why if until > self._now_s() else None

    def ask(self, schema_id: int) -> Usable | str:
        """Raises GatewayError while the registry is away; that is not kept here."""
        gateway = registry()
        try:
            schema = gateway.of_id(schema_id)
            usable_schema = usable(gateway, schema, lambda: gateway.of_id(schema_id, form="serialized"))
        except RefusedError as error:
            return self._refuse(schema_id, f"the registry says: {error}")
        except CodecError as error:
            return self._refuse(schema_id, str(error))
        with self._lock:
            if schema_id not in self._kept:
                self._kept[schema_id] = usable_schema
                self._letters += len(usable_schema.schema.text)
            while len(self._kept) > KEPT_MAX or (self._letters > KEPT_LETTERS_MAX and len(self._kept) > 1):
                _, gone = self._kept.popitem(last=False)
                self._letters -= len(gone.schema.text)
        return usable_schema

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()
            self._unusable.clear()
            self._letters = 0

    def _refuse(self, schema_id: int, why: str) -> str:
        with self._lock:
            self._unusable[schema_id] = self._now_s() + UNKNOWN_KEPT_S, why
            while len(self._unusable) > KEPT_MAX:
                self._unusable.popitem(last=False)
        return why


@cache
def schemas_of(_registry: object) -> KeptSchemas:
    """Return the cached schemas of one registry: two may give the same id to different schemas."""
    return KeptSchemas()


class PageDecoder:
    """Decodes records of one page, in one thread: it stops decoding when the page has taken enough."""

    def __init__(
        self,
        schemas: KeptSchemas | None = None,
        now_s: Callable[[], float] = time.monotonic,
        *,
        seconds: float | None = None,
        lookups: int | None = None,
    ):
        """`seconds` and `lookups` until `renew`; None: those of a page."""
        self._schemas = schemas or schemas_of(here.SCHEMA_REGISTRY)
        self._now_s = now_s
        self._seconds = SECONDS_PER_PAGE if seconds is None else seconds
        self._lookups = LOOKUPS_PER_PAGE if lookups is None else lookups
        self._is_on = here.SCHEMA_REGISTRY is not None
        self.renew()

    def renew(self) -> None:
        """Begin the next page, with its own time and lookups."""
        self._ends_s: float | None = None
        self._lookups_left, self._long_lookups_left = self._lookups, LONG_LOOKUPS_PER_PAGE

    def decode(self, data: bytes | None) -> Decoded | None:
        """Decode data; None if it is not framed, as Java's longs, and where there is no registry."""
        schema_id = schema_id_of(data) if self._is_on else None
        if schema_id is None or data is None:
            return None
        if len(data) == LONG_BYTES:
            return self._decode_unless_long(schema_id, data)
        return self._decode(schema_id, data)

    def _decode_unless_long(self, schema_id: int, data: bytes) -> Decoded | None:
        """Decode the message if the registry has its schema and the bytes fit it; None if it takes too long."""
        if self._schemas.kept(schema_id) is None:
            if not self._long_lookups_left:
                return None
            self._long_lookups_left -= 1
        decoded = self._decode(schema_id, data)
        return None if decoded.problem else decoded

    def _decode(self, schema_id: int, data: bytes) -> Decoded:
        if len(data) > DECODED_BYTES_MAX:
            return Decoded(schema_id, problem=f"it is longer than {DECODED_BYTES_MAX} bytes")
        now = self._now_s()
        self._ends_s = now + self._seconds if self._ends_s is None else self._ends_s
        if now > self._ends_s:
            return Decoded(schema_id, problem="decoding this page takes too long; look at the record by itself")
        ready = self._ready(schema_id)
        return (
            Decoded(schema_id, problem=ready)
            if isinstance(ready, str)
            else decoded(ready, schema_id, data[FRAME_BYTES:])
        )

    def _ready(self, schema_id: int) -> Usable | str:
        kept = self._schemas.kept(schema_id)
        if kept is not None:
            return kept
        if not self._lookups_left:
            return "this page needs too many schemas; open the record's own page"
        self._lookups_left -= 1
        try:
            return self._schemas.ask(schema_id)
        except GatewayError as error:
            return str(error)
