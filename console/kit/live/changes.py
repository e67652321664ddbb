"""What the collector says after each look: which rows are others now, by their keys, and which look it was.

It says so once for everybody; each web process renders what its pages show (console/shell/web/feed.py). Every look is
numbered and told of, also one that found nothing: who misses a number knows that changes were missed. While no page is
open nobody is told.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, TypedDict

from console.kit.common.clock import now_ms
from console.kit.live import groups
from console.kit.live.audience import listened
from console.kit.live.push import send_message


class RowsChanged(TypedDict):
    """One look of a collector's tier, as the channel layer carries it; `number` counts its looks.

    `rows`: kind of row → primary keys. `partitions`: primary key of a topic and the numbers of its changed partitions.
    """

    type: Literal["rows.changed"]
    tier: str
    number: int
    rows: dict[str, list[int]]
    pages: list[str]
    partitions: list[tuple[int, list[int]]]


class ChangeSender:
    """Change sender of one tier, for one thread. A collector that starts again goes on with a higher number, which
    reads as a gap.
    """

    def __init__(self, tier: str):
        self._tier = tier
        self._number = now_ms()

    def send(
        self,
        rows: Mapping[str, Iterable[int]],
        pages: Iterable[str] = (),
        partitions: Mapping[int, Iterable[int]] | None = None,
        *,
        is_heard: bool | None = None,
    ) -> None:
        """Send changes. `rows`: kind of row → primary keys. `pages` have to fetch themselves: their lists have other
        rows now.

        `partitions`: of topics, by primary key, the numbers of those that changed. `is_heard`: by who has just asked.
        """
        self._number += 1
        if not (self.is_heard() if is_heard is None else is_heard):
            return
        message: RowsChanged = {
            "type": "rows.changed",
            "tier": self._tier,
            "number": self._number,
            "rows": {kind: list(keys) for kind, keys in rows.items()},
            "pages": list(pages),
            "partitions": [(key, list(numbers)) for key, numbers in (partitions or {}).items()],
        }
        send_message(groups.CHANGES, message)

    @staticmethod
    def is_heard() -> bool:
        return bool(listened([groups.CHANGES]))
