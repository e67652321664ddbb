"""What brokers answer, as commands need it: refusals become one sentence, ids the texts that Kafka prints."""

import base64
import re
from uuid import UUID

from broker.cli.frame.declaration import UsageError
from broker.common.errors import ApiError, ErrorCode
from broker.common.java.patterns import compile_pattern


def check(code: int, message: str | None = None) -> None:
    """Raises ApiError for anything but success, with the broker's own sentence if it has one."""
    if code:
        try:
            known = ErrorCode(code)
        except ValueError:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, message or f"the broker answers error {code}") from None
        raise ApiError(known, message or known.meaning)


def text_of_id(topic_id: UUID) -> str:
    """Format a topic id as Kafka does; empty for none."""
    return base64.urlsafe_b64encode(topic_id.bytes).rstrip(b"=").decode() if topic_id.int else ""


def id_of_text(text: str) -> UUID:
    """Raises ValueError."""
    try:
        return UUID(bytes=base64.b64decode(text + "==", altchars=b"-_", validate=True))
    except ValueError:
        raise ValueError("a topic id is 22 letters and digits") from None


def pattern(text: str) -> re.Pattern[str]:
    """Parse Kafka's pattern of topics: a regular expression matched against whole names, in which a comma means
    `or`.
    """
    try:
        return compile_pattern(_listed(text))
    except ValueError as error:
        raise UsageError(f"{text!r} is no regular expression: {error}") from None


def _listed(text: str) -> str:
    return text.strip().strip("\"'").replace(",", "|").replace(" ", "")


def pair(text: str) -> tuple[str, str]:
    """Split KEY=VALUE at the first `=`. Raises ValueError."""
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise ValueError('write it as "key=value"')
    return key.strip(), value.strip()


def at_least_one(text: str) -> int:
    """Raises ValueError."""
    number = int(text)
    if number < 1:
        raise ValueError("it must be greater than 0")
    return number


def exception_of(code: int) -> str:
    """Return the name under which Kafka's tools print a refusal."""
    try:
        name = "".join(word.capitalize() for word in ErrorCode(code).name.removesuffix("_EXCEPTION").split("_"))
    except ValueError:
        name = "UnknownServer"
    return f"org.apache.kafka.common.errors.{name.removesuffix('Error')}Exception"


def int32(text: str) -> int:
    """Raises ValueError."""
    return _fitting(text, 31)


def int64(text: str) -> int:
    """Raises ValueError."""
    return _fitting(text, 63)


def _fitting(text: str, bits: int) -> int:
    number = int(text)
    if not -(1 << bits) <= number < 1 << bits:
        raise ValueError(f"it does not fit into {bits + 1} bits")
    return number
