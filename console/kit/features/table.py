"""A list whose columns, rows and filters a person may keep. Pure.

A column is hidden by its place in the table (`static/css/tables.css`), so rows that are pushed are the same for
everybody; it is kept by its key, so that a release may put a column between.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.kit.access.places import PagePlace

#: How many rows a page may have; web/watched.py follows more than the most.
ROWS = (25, 50, 100, 200)
VALUE_LENGTH_MAX = 249


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """`place` is that of the list in the palette.

    `columns`: key and title of each, in their order; the first names the row and is always there.

    `order` are parameters that come back with the list, `filters` those that only a view keeps: a list that hides
    what nobody asks for today is a trap. `rows`: how many without a choice; none: the list is not paged.
    """

    place: PagePlace
    columns: tuple[tuple[str, str], ...]
    order: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    rows: int = 0

    @property
    def name(self) -> str:
        return self.place.route

    @property
    def optional(self) -> tuple[tuple[str, str], ...]:
        return self.columns[1:]

    def hidden(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return those of `keys` that are columns which may be hidden, in the table's order."""
        wanted = set(keys)
        return tuple(key for key, _ in self.optional if key in wanted)

    def places_of(self, hidden: Iterable[str]) -> str:
        """Return the positions for the stylesheet: `3 5`."""
        wanted = set(hidden)
        return " ".join(str(number) for number, (key, _) in enumerate(self.columns, 1) if key in wanted)

    def count(self, text: str) -> int:
        """Parse a number of rows that is offered; 0 for anything else."""
        count = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0
        return count if self.rows and count in ROWS else 0

    def ordered(self, parameters: Mapping[str, str]) -> dict[str, str]:
        return _canonical(self.order, parameters)

    def filtered(self, parameters: Mapping[str, str]) -> dict[str, str]:
        """Return the query parameters that a saved view keeps."""
        return _canonical((*self.order, *self.filters), parameters)


def _canonical(names: Iterable[str], parameters: Mapping[str, str]) -> dict[str, str]:
    """Return one address for equal lists: known names only, nothing empty."""
    values = {name: parameters.get(name, "").strip().replace("\0", "")[:VALUE_LENGTH_MAX] for name in names}
    return {name: value for name, value in values.items() if value}


def columns_of(titles: str) -> tuple[tuple[str, str], ...]:
    """Return the key and the title of each column, of titles with commas between; the keys are made of the titles."""
    return tuple((title.lower().replace(" ", "-").replace("/", "per"), title) for title in titles.split(", "))
