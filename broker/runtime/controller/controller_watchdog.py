"""Says when the cluster may be without controller, and what to do: nobody sees that until something has to be decided.

Whoever is doubted may be about to register anew, or to write its name again; so it is looked at twice.
"""

import asyncio
from collections.abc import Callable

from broker.common.logs import logger
from broker.zookeeper.election import ControllerDoubt

_log = logger(__name__)

LOOK_AGAIN_S = 20.0


class ControllerWatchdog:
    """Controller watchdog of one broker, on its loop; `look_again` is to end in `note`."""

    def __init__(self, look_again: Callable[[], None]):
        self._look_again = look_again
        self._doubt: ControllerDoubt | None = None
        self._timer: asyncio.TimerHandle | None = None

    def note(self, doubt: ControllerDoubt | None) -> None:
        """Note the result of a check, None if all is well. A doubt is logged if the previous check had it, too."""
        if doubt is None:
            self._doubt = None
        elif self._timer is None:
            if doubt == self._doubt:
                _log.error("there may be no controller", reason=doubt.reason, remedy=doubt.remedy)
            self._doubt = doubt
            self._timer = asyncio.get_running_loop().call_later(LOOK_AGAIN_S, self._ring)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _ring(self) -> None:
        self._timer = None
        self._look_again()
