"""What of the filters of the messages tab is set, each with the address of the page without it."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import QueryDict

from console.cluster.records.query import DEFAULT_COLUMN, SEARCHED, SHOWN_AS, RecordQuery
from console.kit.common.figures import grouped

_TEXT_LENGTH_MAX = 40


@dataclass(frozen=True, slots=True)
class FilterChip:
    """`without`: the query of the address that shows the same without this filter."""

    text: str
    without: str


def chips_of(parameters: QueryDict, query: RecordQuery) -> list[FilterChip]:
    """Return the filters in effect, in the order of the filter bar."""
    return [FilterChip(text, _without(parameters, names)) for text, names in _set(query)]


def _set(query: RecordQuery) -> Iterator[tuple[str, tuple[str, ...]]]:
    if query.place == "offset":
        yield f"from offset {grouped(query.offset)}", ("place", "offset")
    if query.partition is not None:
        yield f"partition {query.partition}", ("partition",)
    if query.search:
        text = query.search if len(query.search) <= _TEXT_LENGTH_MAX else f"{query.search[:_TEXT_LENGTH_MAX]}…"
        yield f"{SEARCHED[query.searched]}: {text}", ("search", "searched")
    if query.shown_as != next(iter(SHOWN_AS)):
        yield f"deserializer {SHOWN_AS[query.shown_as]}", ("shown",)
    if not query.committed_only:
        yield "read_uncommitted", ("uncommitted",)
    if query.columns:
        yield f"{len(query.columns)} column{'s' * (len(query.columns) > 1)}", ("column", DEFAULT_COLUMN)


def _without(parameters: QueryDict, names: tuple[str, ...]) -> str:
    left = parameters.copy()
    for name in (*names, "cursor", "format"):
        left.pop(name, None)
    return left.urlencode()
