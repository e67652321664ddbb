"""Assigns connectors and tasks: incremental cooperative rebalancing as the group's leader decides it (KIP-415). Pure.

What a worker runs stays with it. Work of a worker that is gone waits for its return, up to a delay; work is taken from
one worker in one round and given to another in the next, so that it never runs twice.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from broker.connect.group.wire import Unit

#: Rounds that take work one after the other wait 1 ms, 40 ms, 1.6 s … (KAFKA-12495).
_BACKOFF_FACTOR = 40
#: The pause is longer than any delay by then.
_BACKOFF_ROUNDS_MAX = 8

Owned = Mapping[str, frozenset[Unit]]


@dataclass(frozen=True, slots=True)
class Round:
    """Member → what it runs from now on, and what it must stop first; `delay_ms` until all should join again."""

    assigned: dict[str, frozenset[Unit]]
    revoked: dict[str, frozenset[Unit]]
    delay_ms: int = 0


@dataclass
class Balancer:
    """What a leader remembers between rounds. `max_delay_ms` is `scheduled.rebalance.max.delay.ms`."""

    max_delay_ms: int
    _previous: dict[str, frozenset[Unit]] = field(default_factory=dict)
    _generation: int = -1
    #: Lost work whose worker may come back, and until when.
    _waiting: frozenset[Unit] = frozenset()
    _due_at: int | None = None
    #: Who came without any work since: probably the worker that went.
    _candidates: set[str] = field(default_factory=set)
    _pause_until: int | None = None
    _revoking_rounds: int = 0

    def assign(
        self, now_ms: int, generation: int, completed_generation: int, configured: Iterable[Unit], owned: Owned
    ) -> Round:
        """Return the round of `generation`; `owned` has every member with what it says it runs.

        `completed_generation` is the last one whose assignment this worker has got: if it is not the one that was
        decided here last, nobody knows who got that, and only what members say counts.
        """
        if completed_generation != self._generation:
            self._forget()
        self._generation = generation
        wanted = frozenset(configured)
        active = _all(owned)
        lost = ((_all(self._previous) | self._waiting) & wanted) - active
        new = wanted - lost - active
        revoked, kept = _revoked_and_kept(wanted, owned)
        delay = self._delay_lost(now_ms, lost, owned)
        if not delay:
            new |= _give_in_turn(sorted(lost), sorted(self._candidates & kept.keys()), kept)
            self._candidates = set()
            delay = self._balance(now_ms, wanted, kept, revoked)
        _give_to_least_loaded(sorted(new), kept)
        self._previous = {member: frozenset(units) for member, units in kept.items()}
        return Round(self._previous, {member: frozenset(units) for member, units in revoked.items()}, delay)

    def _forget(self) -> None:
        self._previous, self._waiting, self._candidates = {}, frozenset(), set()
        self._due_at = self._pause_until = None
        self._revoking_rounds = 0

    def _delay_lost(self, now_ms: int, lost: frozenset[Unit], owned: Owned) -> int:
        """Return how long lost work still waits. Units whose worker has returned do not wait: it missed the last
        round's answer.
        """
        if self._due_at is None and lost:
            losers = {member for member, units in self._previous.items() if units & lost}
            if self.max_delay_ms > 0 and not losers <= owned.keys():
                self._due_at = now_ms + self.max_delay_ms
        if not lost or self._due_at is None or now_ms >= self._due_at:
            self._waiting, self._due_at = frozenset(), None
            return 0
        self._waiting = lost
        self._candidates |= {member for member, units in owned.items() if not units}
        return self._due_at - now_ms

    def _balance(
        self, now_ms: int, wanted: frozenset[Unit], kept: dict[str, set[Unit]], revoked: dict[str, set[Unit]]
    ) -> int:
        """Take what is above a fair share; the pause before that if the last round did so too."""
        surplus = _surplus(wanted, kept)
        if not surplus:
            self._revoking_rounds, self._pause_until = 0, None
            return 0
        if self._revoking_rounds and self._pause_until is None:
            self._pause_until = now_ms + min(_BACKOFF_FACTOR ** (self._revoking_rounds - 1), self.max_delay_ms)
        if self._pause_until is not None and now_ms < self._pause_until:
            return self._pause_until - now_ms
        self._pause_until = None
        self._revoking_rounds = min(self._revoking_rounds + 1, _BACKOFF_ROUNDS_MAX)
        for member, units in surplus.items():
            kept[member] -= units
            revoked[member] |= units
        return 0


def _all(owned: Owned) -> frozenset[Unit]:
    return frozenset().union(*owned.values())


def _revoked_and_kept(wanted: frozenset[Unit], owned: Owned) -> tuple[dict[str, set[Unit]], dict[str, set[Unit]]]:
    """Return which units a member has to stop and which it keeps. A unit that is not configured any more, or that
    several members run, is stopped by each of them (KAFKA-9184).
    """
    runs = Counter(unit for units in owned.values() for unit in units)
    revoked = {
        member: {unit for unit in units if unit not in wanted or runs[unit] > 1} for member, units in owned.items()
    }
    return revoked, {member: set(units - revoked[member]) for member, units in owned.items()}


def _surplus(wanted: frozenset[Unit], kept: Mapping[str, set[Unit]]) -> dict[str, set[Unit]]:
    """Return the units to revoke. Connectors and tasks are balanced separately; a member with most keeps what cannot be
    shared evenly.
    """
    surplus: dict[str, set[Unit]] = {}
    for is_connector in (True, False):
        share, extra = divmod(sum(unit.is_connector is is_connector for unit in wanted), max(len(kept), 1))
        loads = {m: sorted(u for u in units if u.is_connector is is_connector) for m, units in kept.items()}
        for member in sorted(loads, key=lambda member: (-len(loads[member]), member)):
            allowed = share + (extra > 0)
            extra -= len(loads[member]) > share
            if len(loads[member]) > allowed:
                surplus.setdefault(member, set()).update(loads[member][allowed:])
    return surplus


def _give_in_turn(units: list[Unit], members: list[str], kept: dict[str, set[Unit]]) -> frozenset[Unit]:
    """Give the units to the members in turn; return those left over when there are no members."""
    if not members:
        return frozenset(units)
    for place, unit in enumerate(units):
        kept[members[place % len(members)]].add(unit)
    return frozenset()


def _give_to_least_loaded(units: list[Unit], kept: dict[str, set[Unit]]) -> None:
    for is_connector in (True, False):
        heap = [(sum(u.is_connector is is_connector for u in has), member) for member, has in kept.items()]
        heapq.heapify(heap)
        for unit in units:
            if heap and unit.is_connector is is_connector:
                load, member = heap[0]
                kept[member].add(unit)
                heapq.heapreplace(heap, (load + 1, member))
