"""Parameters that several jobs declare alike, and what a text must be to name a topic or a directory."""

import re

from broker.config.definition import REQUIRED, Key, accepting, parse_int
from broker.spark.fields import parse_field, parse_fields, parse_optional_field

TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
DAY_MS = 86_400_000
_TOPIC = "a topic's name (letters, digits, . _ -)"


@accepting(_TOPIC)
def parse_topic(text: str) -> str:
    if not TOPIC_NAME.fullmatch(text) or text in (".", ".."):
        raise ValueError(text)
    return text


@accepting(_TOPIC)
def parse_optional_topic(text: str) -> str:
    return parse_topic(text) if text else ""


@accepting("a path below files.dir (letters, digits, . _ - and / between)")
def parse_path(text: str) -> str:
    """Parse a path below `files.dir`: relative, without ".."."""
    if not _PATH.fullmatch(text) or len(text) > 200:
        raise ValueError(text)
    return text


def topic_key(name: str, meaning: str, default: object = REQUIRED) -> Key:
    return Key(name, parse_topic, default, meaning)


def field_key(name: str, default: str, meaning: str) -> Key:
    return Key(name, parse_field, parse_field(default), meaning)


def duration_key(name: str, default: int, meaning: str, at_least: int = 0) -> Key:
    return Key(name, parse_int, default, meaning, at_least=at_least, at_most=366 * DAY_MS)


INPUT_TOPIC = topic_key("input.topic", "The topic to read.")
OUTPUT_TOPIC = topic_key("output.topic", "The topic to write.")
GROUP_BY = Key("group.by", parse_fields, parse_fields("key"), "The fields to count by.")
SUM_FIELD = Key("sum.field", parse_optional_field, None, "A number to add up besides counting; blank: only count.")
TIME_FIELD = field_key("time.field", "timestamp", "When it happened, in milliseconds or ISO 8601.")
TIME_FORMAT = Key("time.format", str, "", "How the time is written, as dd/MMM/yyyy:HH:mm:ss Z; blank: as above.")
MISSING = Key("missing.as", str, "(missing)", "What a record is counted under that does not say a field.")
WATERMARK_MS = duration_key("watermark.ms", 600_000, "How late a record may come and still be counted.")
