"""What the messages tab was asked for, as it stands in the address: any link to it shows the same again."""

import re
from dataclasses import dataclass
from datetime import datetime

from django.http import QueryDict

from console.cluster.records.columns import Column, parse_columns
from console.kit.common.clock import moment_of
from console.kit.gateway.interface import PARTITIONS_PER_TOPIC_MAX

PLACES = {"newest": "Newest", "oldest": "Oldest", "offset": "From offset", "time": "From time"}
SHOWN_AS = {
    "auto": "auto",
    "string": "raw text",
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
    "cel": "by expression",
}
LIMITS = (25, 50, 100, 200)
SEARCH_LENGTH_MAX = 500
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
    moment: datetime | None = None
    #: None: every partition.
    partition: int | None = None
    limit: int = LIMITS[0]
    shown_as: str = "auto"
    committed_only: bool = True
    search: str = ""
    searched: str = "any"
    #: partition → where to go on (newest: where to end), from the link of another page; takes the place of `place`.
    cursor: tuple[tuple[int, int], ...] = ()
    columns: tuple[Column, ...] = ()

    @classmethod
    def parse(cls, parameters: QueryDict) -> "RecordQuery":
        limit = _number(parameters.get("limit", ""), LIMITS[-1])
        return cls(
            place=_one_of(parameters.get("place", ""), PLACES),
            offset=_number(parameters.get("offset", ""), _OFFSET_MAX) or 0,
            moment=moment_of(parameters.get("moment", "")),
            partition=_number(parameters.get("partition", ""), PARTITIONS_PER_TOPIC_MAX),
            limit=limit if limit in LIMITS else LIMITS[0],
            shown_as=_one_of(parameters.get("shown", ""), SHOWN_AS),
            committed_only=parameters.get("uncommitted") != "on",
            search=parameters.get("search", "")[:SEARCH_LENGTH_MAX].strip().replace("\0", ""),
            searched=_one_of(parameters.get("searched", ""), SEARCHED),
            cursor=read_cursor(parameters.get("cursor", "")),
            columns=parse_columns(parameters.getlist("column")[:_COLUMNS_LOOKED_AT_MAX]),
        )


def read_cursor(text: str) -> tuple[tuple[int, int], ...]:
    """`0:12,1:40` as ((0, 12), (1, 40)); nothing for anything else."""
    if len(text) > CURSOR_LENGTH_MAX or not _CURSOR.fullmatch(text):
        return ()
    pairs = (pair.split(":") for pair in text.split(","))
    return tuple((int(partition), int(offset)) for partition, offset in pairs)


def write_cursor(positions: dict[int, int]) -> str:
    """Empty if there are too many partitions for an address: then one has to be chosen to go on."""
    text = ",".join(f"{partition}:{offset}" for partition, offset in sorted(positions.items()))
    return text if len(text) <= CURSOR_LENGTH_MAX else ""


def _one_of(wanted: str, known: dict[str, str]) -> str:
    return wanted if wanted in known else next(iter(known))


def _number(text: str, largest: int) -> int | None:
    if not (text.isascii() and text.isdigit()) or len(text) > 19:
        return None
    return int(text) if int(text) <= largest else None
