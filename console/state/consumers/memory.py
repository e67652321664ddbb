"""What is asked of the cluster rarely and remembered: the first unread record of a position, how long a topic keeps."""

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter

from console.kit.gateway.errors import GatewayError
from console.kit.gateway.groups.interface import TopicPartition, UnreadView
from console.kit.gateway.interface import ClusterGateway

logger = logging.getLogger(__name__)

#: Positions asked for at one look: each reads a few kilobytes of records.
POSITIONS_PER_LOOK = 100
TOPICS_PER_LOOK = 5
#: A topic's settings are asked for again after this long.
AGAIN_AFTER_MS = 60_000


class UnreadMemory:
    """A record stays where it is; that there are only markers holds until the log's end moves."""

    def __init__(self, gateway: ClusterGateway):
        self._gateway = gateway
        self._known: dict[tuple[TopicPartition, int], tuple[int, UnreadView]] = {}
        self._asked_last: TopicPartition | None = None

    def learn(self, wanted: Mapping[TopicPartition, Iterable[int]], ends: Mapping[TopicPartition, int]) -> None:
        """Ask for positions that are not known, in turn; what is not wanted any more is forgotten."""
        positions = {(place, position) for place, item in wanted.items() for position in item}
        self._known = {key: known for key, known in self._known.items() if key in positions}
        missing: dict[TopicPartition, int] = {}
        for place, position in self._in_turn(positions):
            if place not in missing and not self._is_known(place, position, ends[place]):
                missing[place] = position
                if len(missing) == POSITIONS_PER_LOOK:
                    self._asked_last = place
                    break
        try:
            answers = self._gateway.groups.first_unread(missing)
        except GatewayError as error:
            logger.debug("unread records not looked at: %s", error)
            return
        self._known.update({(place, missing[place]): (ends[place], view) for place, view in answers.items()})

    def of(self, place: TopicPartition, position: int, next_offset: int | None) -> UnreadView | None:
        if next_offset is None or not self._is_known(place, position, next_offset):
            return None
        return self._known[place, position][1]

    def _in_turn(self, positions: set[tuple[TopicPartition, int]]) -> list[tuple[TopicPartition, int]]:
        """Return positions in turn: groups that move on have new ones at each look, and must not keep others from being
        asked for.
        """
        ordered = sorted(positions)
        begin = 0 if self._asked_last is None else bisect_right(ordered, self._asked_last, key=itemgetter(0))
        return ordered[begin:] + ordered[:begin]

    def _is_known(self, place: TopicPartition, position: int, next_offset: int) -> bool:
        known = self._known.get((place, position))
        return known is not None and (known[1].offset is not None or known[0] == next_offset)


class RetentionMemory:
    """How long topics keep records, by time; asked a few at a time."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int]):
        self._gateway = gateway
        self._now_ms = clock_ms
        self._known: dict[str, tuple[int, int | None]] = {}
        self._asked_since_ms = 0
        self._asked_count = 0

    def of(self, topic: str) -> int | None:
        """Return retention.ms; None: no retention by time, or it is not known yet."""
        asked_at_ms, keeps_ms = self._known.get(topic, (None, None))
        now_ms = self._now_ms()
        is_due = asked_at_ms is None or now_ms - asked_at_ms >= AGAIN_AFTER_MS
        if is_due and self._may_ask(now_ms):
            keeps_ms = self._ask(topic, keeps_ms)
            self._known[topic] = (now_ms, keeps_ms)
        return keeps_ms

    def _may_ask(self, now_ms: int) -> bool:
        """Return whether the broker may be asked now: a few topics for each second."""
        if now_ms - self._asked_since_ms >= 1_000:
            self._asked_since_ms, self._asked_count = now_ms, 0
        self._asked_count += 1
        return self._asked_count <= TOPICS_PER_LOOK

    def _ask(self, topic: str, known: int | None) -> int | None:
        try:
            values = {setting.name: setting.value for setting in self._gateway.topic_settings(topic)}
        except GatewayError as error:
            logger.debug("retention of %s not learned: %s", topic, error)
            return known
        limit = int(values.get("retention.ms") or -1)
        return limit if limit >= 0 and "delete" in (values.get("cleanup.policy") or "") else None
