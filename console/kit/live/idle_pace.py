"""Whether somebody looks. While nobody does, and all is well, the collector's tiers pause longer.

Nobody who looks notices: an open page listens, a page that is fetched calls and waits for the look it causes
(`web/fresh_pages.py`), and so does whatever changes processes. Without Redis nobody can call, so there is always
somebody.
"""

import logging
import threading
import time
from collections.abc import Callable

import redis

from console.kit.live import groups
from console.kit.live.audience import listened, redis_of_layer

#: So many times longer. The slowest look that says anything of processes then is 6 s old, of 15 (`truths.FRESH_MS`).
SLOWER = 4
#: So many times longer the collector rests between two signs of life: of 5 s that make it silent (`SILENCE_MS`) 3.
BEATS_SLOWER = 3
#: After the last sign of somebody, or of trouble.
LINGERS_SECONDS = 15.0

logger = logging.getLogger(__name__)


def is_any_page_open() -> bool:
    """Return True also where that cannot be found out."""
    return bool(listened([groups.HEARTBEAT, groups.FLEET]))


class IdlePace:
    """`pay` and `pause` may be called from any thread, the others from one."""

    def __init__(
        self, is_any_page_open: Callable[[], bool] = is_any_page_open, clock_s: Callable[[], float] = time.monotonic
    ):
        self._is_any_page_open = is_any_page_open
        self._clock_s = clock_s
        self._lock = threading.Lock()
        self._paid = threading.Event()
        self._channel: redis.client.PubSub | None = None
        self.pay()

    def pay(self) -> None:
        """Note that a page is open or a look is due: pauses for lack of readers end at once."""
        with self._lock:
            self._until_s = self._clock_s() + LINGERS_SECONDS
            self._paid.set()

    @property
    def is_paid(self) -> bool:
        return self._paid.is_set()

    def pause(self, seconds: float, stop: threading.Event) -> None:
        """Wait between two looks."""
        if self._paid.is_set():
            stop.wait(seconds)
        else:
            self._paid.wait(seconds * SLOWER)

    def review(self) -> bool:
        """Check once in a while whether a page is open, and return that."""
        is_open = self._is_any_page_open()
        if is_open:
            self.pay()
        with self._lock:
            if self._clock_s() > self._until_s:
                self._paid.clear()
        return is_open

    def rest(self, seconds: float, stop: threading.Event) -> None:
        """Pause for `seconds`, longer while no page is open, until woken or stopped."""
        try:
            if self._paid.is_set():
                self._hang_up()
                stop.wait(seconds)
            elif any(self._is_woken(seconds) for _ in range(BEATS_SLOWER) if not stop.is_set()):
                self.pay()
        except redis.RedisError as error:
            logger.debug("wake-up calls are not possible: %s", error)
            self._channel = None
            self.pay()
            stop.wait(seconds)

    def _is_woken(self, seconds: float) -> bool:
        client = redis_of_layer()
        if client is None:
            return True
        if self._channel is None:
            self._channel = client.pubsub()  # type: ignore[no-untyped-call]  # redis gives no types
            self._channel.subscribe(channel())
        message = self._channel.get_message(timeout=seconds)
        return message is not None and message["type"] == "message"

    def _hang_up(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None


def channel() -> str:
    """Return the channel that the collector listens to only while idle; the number of receivers tells a caller whether
    it woke it.
    """
    return groups.on_layer("barnabas.attention")


def call() -> bool:
    """Wake the collector; return whether it was idle. Never raises."""
    client = redis_of_layer()
    try:
        return client is not None and client.publish(channel(), b"") > 0
    except redis.RedisError as error:
        logger.debug("the collector cannot be called: %s", error)
        return False
