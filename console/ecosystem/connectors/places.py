"""What a trace says of why a task failed: the error, in one line, and the record it failed at. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TOPIC, _NUMBERS = r"(?P<topic>[\w.-]{1,249})", r"(?P<partition>\d{1,9})"
#: Kafka's own sentence, and that of our worker, which may know only between which records it was.
_PLACES = (
    re.compile(rf"topic '{_TOPIC}',? partition {_NUMBERS},? (?:at )?offset (?P<offset>\d{{1,18}})"),
    re.compile(
        rf"record at {_TOPIC}-{_NUMBERS}@(?P<offset>\d{{1,18}})"
        r"(?: and the record at [\w.-]{1,249}-\d{1,9}@(?P<last>\d{1,18}))?(?P<elsewhere>, or at |, or between )?"
    ),
)
#: A line that begins with the name of an error.
_ERROR = re.compile(
    r"(?P<caused>Caused by: )?(?P<name>[\w.$]{0,200}(?:Error|Exception|Exit|Interrupt|Refused))(?::\s*(?P<said>.*))?"
)
_CAUSE_LENGTH_MAX = 400
#: Longer traces have been cut before.
_SEARCHED_MAX = 20_000


@dataclass(frozen=True, slots=True)
class RecordRange:
    """Record range of a record, or with `last` of one from there to `last`; it may be `elsewhere`, in another
    partition.
    """

    topic: str
    partition: int
    offset: int
    last: int | None = None
    elsewhere: bool = False

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}@{self.offset}"

    @property
    def end(self) -> "RecordRange | None":
        return None if self.last is None else RecordRange(self.topic, self.partition, self.last)

    @property
    def sentence(self) -> str:
        more = " or in another partition" if self.elsewhere else ""
        return f"between the records {self} and {self.end}{more}" if self.end else f"at the record {self}{more}"


def place_in(trace: str) -> RecordRange | None:
    """Return the range of the record that a task failed on, if the trace names one; else None."""
    searched = trace[:_SEARCHED_MAX]
    for pattern in _PLACES:
        if match := pattern.search(searched):
            groups = match.groupdict()
            last = int(groups["last"]) if groups.get("last") else None
            return RecordRange(
                groups["topic"], int(groups["partition"]), int(groups["offset"]), last, bool(groups.get("elsewhere"))
            )
    return None


def error_in(trace: str) -> tuple[str, str]:
    """Return class and sentence of the root cause: of Java the last cause, of Python the first error."""
    lines = [line.rstrip() for line in trace[:_SEARCHED_MAX].splitlines()]
    matches = [match for line in lines if (match := _ERROR.fullmatch(line[:2_000]))]
    if not matches:
        return "", next((line.strip() for line in lines if line.strip()), "")[:_CAUSE_LENGTH_MAX]
    causes = [match for match in matches if match["caused"]]
    root = causes[-1] if causes else matches[0]
    return root["name"].rpartition(".")[2], (root["said"] or "")[:_CAUSE_LENGTH_MAX]


_TOPIC_KEYS = ("topics", "topic", "kafka.topic")
DEAD_LETTERS = "errors.deadletterqueue.topic.name"
#: Of the topic that a source writes, or a sink its dead letters.
WRITTEN_KEYS = ("topic", "kafka.topic", DEAD_LETTERS)
_TOPIC_NAME = re.compile(r"[\w.-]{1,249}", re.ASCII)


def topics_in(config: Mapping[str, str]) -> list[str]:
    """Return the topics a configuration reads or writes by name; patterns and prefixes are left out."""
    named = (part.strip() for key in _TOPIC_KEYS for part in config.get(key, "").split(","))
    return sorted({item for item in named if _TOPIC_NAME.fullmatch(item)})


def pattern_in(config: Mapping[str, str]) -> str:
    """Return the pattern, `topics.regex`, of a sink that names no topics, or an empty text."""
    return "" if config.get("topics", "").strip() else config.get("topics.regex", "")


def dead_letters_in(config: Mapping[str, str]) -> str:
    name = config.get(DEAD_LETTERS, "").strip()
    return name if _TOPIC_NAME.fullmatch(name) else ""


def group_of(name: str, config: Mapping[str, str]) -> str:
    """Return the consumer group of a sink."""
    return config.get("consumer.override.group.id", "").strip() or f"connect-{name}"
