"""Who shows what: the open pages of this process, found by the rows they show. Pure.

A row is known by the kind of its element and the primary key behind it: `topic-row-12` is ("topic-row", 12).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from console.kit.access.reach import Reach
from console.kit.features.listed import features

Key = tuple[str, int]

#: The most rows a page may show: a hundred of the longest list, and what stands beside it.
ROWS_MAX = 300
_KINDS = tuple(kind.name for feature in features() for kind in feature.row_kinds)
_ROW_ID = re.compile(rf"({'|'.join(_KINDS)})-([0-9]{{1,18}})")


class LivePage(Protocol):
    """One page that is open in a browser."""

    #: As the page calls itself: topics, topic:orders …
    name: str
    reach: Reach

    def put(self, html: str) -> None:
        """Send it when the browser takes it; never waits."""
        ...


@dataclass(frozen=True, slots=True)
class PageState:
    """What a page says of itself. `moves`: its rows are sorted or chosen by figures that change."""

    keys: frozenset[Key] = frozenset()
    moves: bool = False

    @classmethod
    def parse(cls, document: object) -> "PageState":
        """Return the state of a page from a browser's message; ids that are no rows of the console are left out."""
        if not isinstance(document, dict) or not isinstance(document.get("rows"), list):
            return cls()
        matches = (_ROW_ID.fullmatch(row) for row in document["rows"][:ROWS_MAX] if isinstance(row, str))
        keys = frozenset((match[1], int(match[2])) for match in matches if match)
        return cls(keys, document.get("moves") is True)


@dataclass
class WatchedRows:
    """The pages, and for each row those that show it."""

    shown: dict[LivePage, PageState] = field(default_factory=dict)
    _pages: dict[str, dict[int, set[LivePage]]] = field(default_factory=dict)

    def show(self, page: LivePage, shown: PageState) -> frozenset[Key]:
        """Note that `page` shows this from now on; return the rows it did not show before."""
        before = self.shown.get(page, PageState()).keys
        self.shown[page] = shown
        for kind, key in shown.keys - before:
            self._pages.setdefault(kind, {}).setdefault(key, set()).add(page)
        for kind, key in before - shown.keys:
            self._pages[kind][key].discard(page)
            if not self._pages[kind][key]:
                del self._pages[kind][key]
        return shown.keys - before

    def remove(self, page: LivePage) -> None:
        if page in self.shown:
            self.show(page, PageState())
            del self.shown[page]

    def showing(self, changed: Mapping[str, Iterable[int]]) -> dict[LivePage, set[Key]]:
        """Return the pages that show something of it, each with what it shows."""
        keys_by_page: dict[LivePage, set[Key]] = {}
        for kind, keys in changed.items():
            known = self._pages.get(kind, {})
            for key in known.keys() & set(keys):
                for page in known[key]:
                    keys_by_page.setdefault(page, set()).add((kind, key))
        return keys_by_page
