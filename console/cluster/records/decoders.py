"""What keys and values say that are neither text nor JSON: by the schema registry, by a file
that says what they are, or by a decoder somebody installed.

A decoder is a Python entry point of the group `barnabas.decoders`, a function `(topic, part, data) -> str | None`:
`part` is key or value, `data` its bytes, never empty; the answer is JSON or text, None for what is not its own. It runs
in the console with the console's rights, as everything installed beside it does.
"""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points

from django.conf import settings

from console.cluster.records.protobuf_files import MappingError, Messages, messages_of
from console.cluster.schemas.codec import PageDecoder

logger = logging.getLogger(__name__)

GROUP = "barnabas.decoders"
#: Of one page, for all that installed decoders do.
SECONDS_PER_PAGE = 2.0
NOTE_LENGTH_MAX = 400
Decoder = Callable[[str, str, bytes], str | None]


@dataclass(frozen=True, slots=True)
class DecodedText:
    """`text` is what it says, empty if it could not be decoded; `note` says by what, or why not."""

    text: str
    note: str
    schema_id: int = 0


@cache
def installed() -> tuple[tuple[str, Decoder], ...]:
    """Return the installed decoders by name; one that fails to load is logged and left out."""
    decoders = []
    for point in sorted(entry_points(group=GROUP), key=lambda entry_point: entry_point.name):
        try:
            decoders.append((point.name, point.load()))
        except Exception:
            logger.exception("the decoder %s cannot be loaded", point.name)
    return tuple(decoders)


class RecordDecoder:
    """Decodes records of one page of `topic`, in one thread. What reads on for longer renews it with every read."""

    def __init__(
        self,
        topic: str,
        schemas: PageDecoder | None = None,
        now_s: Callable[[], float] = time.monotonic,
        *,
        seconds: float | None = None,
        lookups: int | None = None,
    ):
        """`seconds` for decoding and `lookups` of schemas, until `renew`; None: those of a page."""
        self._topic = topic
        self._schemas = schemas or PageDecoder(seconds=seconds, lookups=lookups)
        self._now_s = now_s
        self._seconds = seconds
        self.renew()

    def renew(self) -> None:
        """Begin the next page: with its own time and lookups, and with the files as they are now."""
        self._left_s = SECONDS_PER_PAGE if self._seconds is None else self._seconds
        self._messages: Messages | MappingError | None = None
        self._schemas.renew()

    def decode(self, part: str, data: bytes | None) -> DecodedText | None:
        """Decode a part; None if no decoder applies."""
        if not data:
            return None
        decoded = self._schemas.decode(data)
        if decoded is None:
            return self._by_a_file(part, data) or self._by_an_installed(part, data)
        if decoded.problem:
            return DecodedText("", f"schema {decoded.schema_id}, not decoded: {decoded.problem}", decoded.schema_id)
        return DecodedText(decoded.text, f"{decoded.type.capitalize()}, schema {decoded.schema_id}", decoded.schema_id)

    def _by_a_file(self, part: str, data: bytes) -> DecodedText | None:
        """Decode by a .proto file that an operator named. While the files cannot be used, binary data is not guessed
        at.
        """
        messages = self._messages = self._messages or _messages_now()
        if isinstance(messages, MappingError):
            return None if _is_text(data) else DecodedText("", f"not decoded: {messages}"[:NOTE_LENGTH_MAX])
        rule = messages.rule_of(self._topic, part)
        if rule is None:
            return None
        if self._left_s <= 0:
            return DecodedText("", f"not decoded by {rule.file}: the page has taken its time for that")
        began_s = self._now_s()
        try:
            decoded, has_more = messages.read(rule, data)
        except MappingError as error:
            return DecodedText("", f"not decoded: {error}"[:NOTE_LENGTH_MAX])
        finally:
            self._left_s -= self._now_s() - began_s
        more = ", with fields it does not know" if has_more else ""
        return DecodedText(json.dumps(decoded, ensure_ascii=False), f"Protobuf, {rule.message} of {rule.file}{more}")

    def _by_an_installed(self, part: str, data: bytes) -> DecodedText | None:
        for name, decoder in installed():
            if self._left_s <= 0:
                return DecodedText("", f"not decoded by {name}: the page has taken its time for that")
            began_s = self._now_s()
            try:
                text = decoder(self._topic, part, data)
            except Exception as error:
                return DecodedText("", f"{name} failed: {type(error).__name__}: {error}"[:200])
            finally:
                self._left_s -= self._now_s() - began_s
            if text is not None:
                return DecodedText(str(text), name)
        return None


def _messages_now() -> Messages | MappingError:
    try:
        return messages_of(settings.PROTOBUF_FILE)
    except MappingError as error:
        return error


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
