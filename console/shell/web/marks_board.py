"""The counts in the sidebar, drawn once for all open pages of this process that show the same.

The collector says that some count is another one, with a number of its own; a thousand pages hear that at one time.
What hangs on the reach is drawn once for each reach, what is personal once for each person: one after the other, so
that requests of the same thread come in between.
"""

import asyncio
import logging
from collections.abc import Callable
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from django.contrib.auth.models import User

from console.kit.access.reach import Reach
from console.kit.common.current_cluster import current_cluster
from console.kit.features import marks
from console.kit.features.marks import personal_marks_html
from console.state.clusters.queries import cluster_state

logger = logging.getLogger(__name__)

#: Drawings kept: those of a version are asked for within moments.
KEPT_MAX = 256
_Key = tuple[object, object]


def shared_marks_html(reach: Reach) -> str:
    return marks.shared_marks_html(reach, cluster_state().unknown_tiers)


class MarksBoard:
    def __init__(self) -> None:
        self._drawings: dict[_Key, asyncio.Task[str | None]] = {}
        self._turn = asyncio.Lock()

    async def html_for(self, user: User, reach: Reach, version: object) -> str | None:
        """Return all marks as the person may see them; None if they could not be drawn, which is logged once."""
        shared = await self._drawn((version, reach), lambda: shared_marks_html(reach))
        personal = await self._drawn((version, user.pk), lambda: personal_marks_html(user))
        return None if shared is None or personal is None else shared + personal

    async def _drawn(self, key: _Key, draw: Callable[[], str]) -> str | None:
        if key not in self._drawings:
            while len(self._drawings) >= KEPT_MAX:
                del self._drawings[next(iter(self._drawings))]
            self._drawings[key] = asyncio.create_task(self._draw(key, draw))
        # A page that goes takes no drawing from the others.
        return await asyncio.shield(self._drawings[key])

    async def _draw(self, key: _Key, draw: Callable[[], str]) -> str | None:
        try:
            async with self._turn:
                return await database_sync_to_async(draw)()
        except Exception:
            logger.exception("the counts of the sidebar could not be drawn")
            self._drawings.pop(key, None)
            return None


_boards: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, MarksBoard]] = WeakKeyDictionary()


def marks_here() -> MarksBoard:
    """Return the board of the running event loop and the current cluster."""
    boards = _boards.setdefault(asyncio.get_running_loop(), {})
    return boards.setdefault(current_cluster(), MarksBoard())
