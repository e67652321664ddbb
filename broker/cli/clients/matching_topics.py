"""Topics by a regular expression of Java's, for a consumer of librdkafka's, whose own expressions are POSIX's."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confluent_kafka import Consumer

_INTERNAL = {"__consumer_offsets", "__transaction_state"}
#: How often topics are listed: a new one is read from then on.
_EVERY_S = 5.0
_AGAIN_S = 1.0
_LIST_S = 2.0

Listener = Callable[["Consumer", list[Any]], None]


class TopicPatternSubscription:
    """What a consumer is subscribed to: the topics whose whole names match, as of the last listing."""

    def __init__(
        self,
        consumer: "Consumer",
        pattern: re.Pattern[str],
        *,
        with_internal: bool = False,
        on_revoke: Listener | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ):
        self._consumer, self._pattern, self._on_revoke, self._now_s = consumer, pattern, on_revoke, now_s
        self._left_out = set() if with_internal else _INTERNAL
        self._names: list[str] = []
        self._next_at = float("-inf")

    def follow(self) -> None:
        """List the topics if it is time to, and subscribe to those that match if they are others than before."""
        if self._now_s() < self._next_at:
            return
        names = self._listed()
        self._next_at = self._now_s() + (_EVERY_S if names else _AGAIN_S)
        if names and names != self._names:
            self._names = names
            self._consumer.subscribe(names, **{"on_revoke": self._on_revoke} if self._on_revoke else {})

    def _listed(self) -> list[str]:
        """Return the names that match, none if no broker answers."""
        from confluent_kafka import KafkaException

        with suppress(KafkaException):
            names = self._consumer.list_topics(timeout=_LIST_S).topics.keys() - self._left_out
            return sorted(filter(self._pattern.fullmatch, names))
        return []
