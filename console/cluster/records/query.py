"""What the messages tab was asked for, as it stands in the address: any link to it shows the same again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.http import QueryDict

from console.cluster.records.columns import RecordColumn, parse_columns
from console.kit.common.clock import now_ms
from console.kit.common.time_range import ANY_TIME, RANGE_NAMES, TimeRange
from console.kit.gateway.interface import PARTITIONS_PER_TOPIC_MAX

PLACES = {"newest": "Newest", "oldest": "Oldest", "offset": "From offset"}
#: A link may say it, and a range that begins somewhere means it where no place is named.
FROM_TIME = "time"
SHOWN_AS = {
    "auto": "auto",
    "string": "string",
    "json": "JSON",
    "tree": "JSON tree",
    "protobuf": "Protobuf fields",
    "hex": "hex",
}
SEARCHED = {
    "any": "anywhere",
    "key": "in the key",
    "value": "in the value",
    "header": "in headers",
    "cel": "CEL filter",
}
LIMITS = (25, 50, 100, 200)
LENGTHS = {"5m": "5 min", "15m": "15 min", "1h": "1 h", "24h": "24 h"}
_CHOICES: dict[str, tuple[str, ...]] = {
    "place": (*PLACES, FROM_TIME),
    "shown": tuple(SHOWN_AS),
    "searched": tuple(SEARCHED),
    "limit": tuple(map(str, LIMITS)),
    "uncommitted": ("on",),
    "continued": ("on",),
    "columns": ("none",),
}
_NUMBERS = ("offset", "partition")
#: A column that the page had by itself, as its form sends it: `columns=none` drops it.
DEFAULT_COLUMN = "default_column"
#: `format` is the file's; `topic` and `mode` are the websocket's.
_OTHERS = ("search", "cursor", "column", DEFAULT_COLUMN, "format", "topic", "mode")
SEARCH_LENGTH_MAX = 500
_PROBLEM_LENGTH_MAX = 60
#: A link to a page further on names one position for each partition.
CURSOR_LENGTH_MAX = 4_000
_COLUMNS_LOOKED_AT_MAX = 50
_OFFSET_MAX = 2**63 - 1
_CURSOR = re.compile(r"[0-9]{1,6}:[0-9]{1,19}(,[0-9]{1,6}:[0-9]{1,19})*")


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """Nonsense in the address counts as not asked; a page never fails for it."""

    place: str = "newest"
    offset: int = 0
    #: No record outside it is read. With a beginning and no place named, records are read from there on.
    range: TimeRange = ANY_TIME
    #: None: every partition.
    partition: int | None = None
    limit: int = LIMITS[0]
    shown_as: str = "auto"
    committed_only: bool = True
    search: str = ""
    searched: str = "any"
    #: partition → where to go on (newest: where to end), from the link of another page; takes the place of `place`.
    cursor: tuple[tuple[int, int], ...] = ()
    #: The search goes on from `cursor`: what lies on its other side has been searched before.
    is_continued: bool = False
    columns: tuple[RecordColumn, ...] = ()
    #: A page that names no columns has those that most values have.
    has_default_columns: bool = True
    #: What else of the address is not understood, one sentence each.
    problems: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def parse(cls, parameters: QueryDict, at_ms: int | None = None) -> "RecordQuery":
        """Parse a query. `at_ms`: the time that the range's `last` counts back from; None: now."""
        limit = _number(parameters.get("limit", ""), LIMITS[-1])
        cursor = read_cursor(parameters.get("cursor", ""))
        chosen = TimeRange.parse(parameters, now_ms() if at_ms is None else at_ms, LENGTHS)
        place = FROM_TIME if chosen.start is not None and parameters.get("place") not in PLACES else None
        has_default_columns = parameters.get("columns") != "none"
        return cls(
            place=place or _one_of(parameters.get("place", ""), {**PLACES, FROM_TIME: ""}),
            offset=_number(parameters.get("offset", ""), _OFFSET_MAX) or 0,
            range=chosen,
            partition=_number(parameters.get("partition", ""), PARTITIONS_PER_TOPIC_MAX),
            limit=limit if limit in LIMITS else LIMITS[0],
            shown_as=_one_of(parameters.get("shown", ""), SHOWN_AS),
            committed_only=parameters.get("uncommitted") != "on",
            search=parameters.get("search", "")[:SEARCH_LENGTH_MAX].strip().replace("\0", ""),
            searched=_one_of(parameters.get("searched", ""), SEARCHED),
            cursor=cursor,
            is_continued=bool(cursor) and parameters.get("continued") == "on",
            has_default_columns=has_default_columns,
            columns=parse_columns(_column_texts(parameters, has_default_columns)[:_COLUMNS_LOOKED_AT_MAX]),
            problems=tuple(_problems(parameters)),
        )


def read_cursor(text: str) -> tuple[tuple[int, int], ...]:
    """Parse `0:12,1:40` as ((0, 12), (1, 40)); nothing for anything else."""
    if len(text) > CURSOR_LENGTH_MAX or not _CURSOR.fullmatch(text):
        return ()
    pairs = (pair.split(":") for pair in text.split(","))
    return tuple((int(partition), int(offset)) for partition, offset in pairs)


def write_cursor(positions: dict[int, int]) -> str:
    """Empty if there are too many partitions for an address: then one has to be chosen to go on."""
    text = ",".join(f"{partition}:{offset}" for partition, offset in sorted(positions.items()))
    return text if len(text) <= CURSOR_LENGTH_MAX else ""


def _problems(parameters: QueryDict) -> Iterator[str]:
    """Yield sentences on values that are read as the default, and on unknown names."""
    for name, values in parameters.lists():
        value = values[-1]
        shown = f"{name}={value}"[:_PROBLEM_LENGTH_MAX]
        if name in _CHOICES and value and value not in _CHOICES[name]:
            yield f"{shown} is not known and is ignored. Known values: {', '.join(_CHOICES[name])}."
        elif name in _NUMBERS and value and _number(value, _OFFSET_MAX) is None:
            yield f"{shown} is not a number, and is ignored."
        elif name == "cursor" and value and not read_cursor(value):
            yield "The cursor is not one of this page, and is ignored."
        elif name not in (*_CHOICES, *_NUMBERS, *_OTHERS, *RANGE_NAMES):
            yield f"The parameter {name[:_PROBLEM_LENGTH_MAX]} is not known and is ignored."


def _column_texts(parameters: QueryDict, has_default_columns: bool) -> list[str]:
    """Return the columns that the address names, first those that the page had by itself unless they are refused."""
    defaults = parameters.getlist(DEFAULT_COLUMN) if has_default_columns else []
    return [*defaults, *parameters.getlist("column")]


def _one_of(wanted: str, known: dict[str, str]) -> str:
    return wanted if wanted in known else next(iter(known))


def _number(text: str, largest: int) -> int | None:
    if not (text.isascii() and text.isdigit()) or len(text) > 19:
        return None
    return int(text) if int(text) <= largest else None
