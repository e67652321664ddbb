"""The settings of every topic that lists show, remembered: new topics are asked about at once, others in turn."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

#: Topics asked about in one round: a topic answers with all its settings, some thirty.
TOPICS_PER_ROUND = 50
#: A topic is asked about again after this long: the setting may have been changed.
AGAIN_AFTER_SECONDS = 10.0
#: After a refusal or silence nobody is asked for so long.
PAUSE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class WatchedSettings:
    min_insync_replicas: int
    retention_ms: int
    cleanup_policy: str
    #: Those that are the topic's own, by name.
    own: tuple[tuple[str, str], ...] = ()


class TopicWatch:
    """`ask(names)` answers what it could learn; it raises nothing. Used from one thread."""

    def __init__(
        self, ask: Callable[[list[str]], dict[str, WatchedSettings]], clock: Callable[[], float] = time.monotonic
    ):
        self._ask = ask
        self._clock = clock
        self._known: dict[str, WatchedSettings] = {}
        self._asked_at: dict[str, float] = {}
        self._silent_until = float("-inf")

    def look(self, names: Iterable[str]) -> dict[str, WatchedSettings]:
        """Return the known settings of `names`, after reading those that are due."""
        present = set(names)
        for gone in self._asked_at.keys() - present:
            self._known.pop(gone, None)
            del self._asked_at[gone]
        due = self._due(present)
        if due:
            answers = self._ask(due)
            self._known.update(answers)
            self._asked_at.update(dict.fromkeys(due, self._clock()))
            if not answers:
                self._silent_until = self._clock() + PAUSE_SECONDS
        return self._known

    def _due(self, present: set[str]) -> list[str]:
        now = self._clock()
        if now < self._silent_until:
            return []
        never = float("-inf")
        due = [name for name in present if now - self._asked_at.get(name, never) >= AGAIN_AFTER_SECONDS]
        return sorted(due, key=lambda name: (self._asked_at.get(name, never), name))[:TOPICS_PER_ROUND]
