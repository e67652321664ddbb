"""Where `--reset-offsets` moves a group: what is typed, the CSV that is exported and read again, and bounds. Pure."""

import csv
import io
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from broker.common.types import TopicPartition

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?P<time>T(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?(?:(?P<seconds>[-+]?\d+(?:\.\d{0,9})?)S)?)?",
    re.IGNORECASE,
)

#: By group: where each partition is read next.
Resets = dict[str, dict[TopicPartition, int]]


def duration_ms(text: str) -> int:
    """Parse `PnDTnHnMn.nS`, as Java reads it. Raises ValueError."""
    match = _DURATION.fullmatch(text)
    parts = {name: match[name] for name in ("days", "hours", "minutes", "seconds")} if match else {}
    if not match or not any(parts.values()) or match["time"] in ("T", "t"):
        raise ValueError("write it as PnDTnHnMnS, as P7D or PT1H30M")
    try:
        length = timedelta(**{name: float(number) for name, number in parts.items() if number})
    except OverflowError:
        raise ValueError("it is longer than time is counted") from None
    return int(length / timedelta(milliseconds=1)) * (-1 if match["sign"] == "-" else 1)


def moment_ms(text: str) -> int:
    """Parse `YYYY-MM-DDTHH:mm:SS.sss`, of UTC unless a zone stands behind it. Raises ValueError."""
    if "T" not in text:
        raise ValueError("Error parsing timestamp. It does not contain a 'T' according to ISO8601 format")
    moment = datetime.fromisoformat(text)
    return max(0, round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000))


def topic_scope(text: str) -> tuple[str, list[int] | None]:
    """Parse `t`, or `t:0,1` for some partitions. Raises ValueError."""
    topic, separator, numbers = text.partition(":")
    if not separator:
        return topic, None
    try:
        return topic, [int(number) for number in numbers.split(",")]
    except ValueError:
        raise ValueError("write it as topic or as topic:0,1") from None


def export(resets: Mapping[str, Mapping[TopicPartition, int]], *, with_group: bool) -> str:
    """Return lines `topic,partition,offset`, with the group in front if there are several."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for group, offsets in resets.items():
        for (topic, partition), offset in sorted(offsets.items()):
            rows.writerow([*([group] if with_group else []), topic, partition, offset])
    return text.getvalue()


def read_export(text: str, groups: list[str]) -> Resets:
    """Read what `export` wrote; lines without a group belong to the only one of `groups`. Raises ValueError."""
    resets: Resets = {}
    for number, row in enumerate(_rows(text), 1):
        if not row:
            continue
        if len(row) == 3 and len(groups) == 1:
            row = [groups[0], *row]
        try:
            group, topic, partition, offset = row
            resets.setdefault(group, {})[TopicPartition(topic, int(partition))] = int(offset)
        except ValueError:
            wanted = "topic,partition,offset" if len(groups) == 1 else "group,topic,partition,offset"
            raise ValueError(f"line {number} is not {wanted}: {','.join(row)}") from None
    return resets


def _rows(text: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text)))
    except csv.Error as error:
        raise ValueError(str(error)) from None


def within_log(
    wanted: Mapping[TopicPartition, int], first: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]
) -> tuple[dict[TopicPartition, int], list[str]]:
    """Return the offsets moved into their logs, and a sentence for each one that was outside."""
    bounded, notices = {}, []
    for partition, offset in wanted.items():
        bounded[partition] = min(max(offset, first[partition]), end[partition])
        if bounded[partition] != offset:
            where = "lower than earliest" if offset < first[partition] else "higher than latest"
            notices.append(
                f"New offset ({offset}) is {where} offset for topic partition {partition}. "
                f"Value will be set to {bounded[partition]}"
            )
    return bounded, notices
