"""Eligible leader replicas: which replicas outside the ISR hold every committed record (KIP-966)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

#: More than any topic has.
_ALL_REPLICAS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class MinIsrSettings:
    """min.insync.replicas: the value of topics that have none of their own, and `own` by topic.

    Before it is read, it counts as all replicas: an ELR that is too large is emptied by the leader, which commits
    nothing before.
    """

    default: int = _ALL_REPLICAS
    own: Mapping[str, int] = field(default_factory=dict)

    def of(self, topic: str) -> int:
        return self.own.get(topic, self.default)

    def updated(self, read: "MinIsrSettings", topics: Collection[str]) -> "MinIsrSettings":
        """Return these settings with what was `read` as the default, and of `topics`."""
        kept = {topic: count for topic, count in self.own.items() if topic not in topics}
        return MinIsrSettings(read.default, kept | dict(read.own))

    def without(self, topic: str) -> "MinIsrSettings":
        """Return these settings without the value of a topic that is gone."""
        if topic not in self.own:
            return self
        return MinIsrSettings(self.default, {name: count for name, count in self.own.items() if name != topic})


def eligible_leaders(
    was_in_sync: Iterable[int],
    was_eligible: Iterable[int],
    isr: Collection[int],
    replicas: Collection[int],
    min_insync_replicas: int,
) -> tuple[int, ...]:
    """Return the ELR beside a new ISR, in the order of `replicas`; empty while the ISR has min.insync.replicas members.

    Nothing is committed while the ISR is smaller than that, nor while a leader's state has an ELR: hence a member that
    left holds all that is. At most all replicas are needed.
    """
    if len(isr) >= min(min_insync_replicas, len(replicas)):
        return ()
    holders = {*was_in_sync, *was_eligible}.difference(isr)
    return tuple(replica for replica in replicas if replica in holders)
