"""The throttle of a move (KIP-73): what to set, and what to put back so that nothing of it stays behind. Pure."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, TypeVar

from console.cluster.placement.move import PartitionMove
from console.kit.gateway.moves.interface import RATE_KEYS, REPLICA_KEYS, Throttles

_LEADER_REPLICAS, _FOLLOWER_REPLICAS = REPLICA_KEYS
_ALL = "*"

#: Broker or topic.
Owner = TypeVar("Owner", int, str)
Values: TypeAlias = Mapping[Owner, Mapping[str, str | None]]


def throttles_for(moves: Iterable[PartitionMove], rate: int, present: Throttles) -> Throttles:
    """Return the throttles at `rate`: leaders for current replicas, followers for new ones; those already throttled
    stay.
    """
    moves = list(moves)
    brokers = {item for move in moves for item in (*move.old, *move.new)}
    topics: dict[str, dict[str, str | None]] = {}
    for topic in sorted({move.topic for move in moves}):
        of_topic = [move for move in moves if move.topic == topic]
        known = present.topics.get(topic, {})
        topics[topic] = {
            _LEADER_REPLICAS: _joined(known.get(_LEADER_REPLICAS), _entries(of_topic, "old")),
            _FOLLOWER_REPLICAS: _joined(known.get(_FOLLOWER_REPLICAS), _entries(of_topic, "adding")),
        }
    return Throttles({broker: dict.fromkeys(RATE_KEYS, str(rate)) for broker in sorted(brokers)}, topics)


def throttles_after(set_then: Throttles, former: Throttles, present: Throttles) -> Throttles:
    """Return the earlier value of each throttle, unless it was changed since."""
    return Throttles(
        _put_back(set_then.brokers, former.brokers, present.brokers),
        _put_back(set_then.topics, former.topics, present.topics),
    )


def as_stored(throttles: Throttles) -> dict[str, object]:
    return {
        "brokers": {str(item): dict(values) for item, values in throttles.brokers.items()},
        "topics": {topic: dict(values) for topic, values in throttles.topics.items()},
    }


def as_throttles(stored: Mapping[str, Values[str]]) -> Throttles:
    return Throttles({int(item): values for item, values in stored["brokers"].items()}, stored["topics"])


def _put_back(set_then: Values[Owner], former: Values[Owner], present: Values[Owner]) -> Values[Owner]:
    changes = {
        owner: {key: former[owner].get(key) for key, value in values.items() if present[owner].get(key) == value}
        for owner, values in set_then.items()
        if owner in present
    }
    return {owner: values for owner, values in changes.items() if values}


def _entries(moves: Iterable[PartitionMove], whose: str) -> list[str]:
    return [f"{move.partition}:{item}" for move in moves for item in getattr(move, whose)]


def _joined(known: str | None, entries: list[str]) -> str | None:
    if known == _ALL:
        return known
    return ",".join(dict.fromkeys([*filter(None, (known or "").split(",")), *entries])) or None
