"""Which member of a consumer group owns which partition (KIP-848), as the members themselves go by it.

In one epoch of a group a partition has one owner. And no member gets a partition while another one that its coordinator
has heard of in time still reads from it.
"""

from collections.abc import Callable

from broker.common.types import TopicPartition
from tests.simulation.history import History

#: Whether the member's coordinator has no reason to take its partitions away.
IsInGoodStanding = Callable[[], bool]


class Ownership:
    """Of all members of one group, which has `partitions` to share."""

    def __init__(self, group: str, partitions: list[TopicPartition], history: History):
        self.group = group
        self.partitions = partitions
        self._history = history
        self._standings: dict[str, IsInGoodStanding] = {}
        self._now: dict[str, frozenset[TopicPartition]] = {}
        self._owners: dict[tuple[int, TopicPartition], str] = {}

    def enter(self, member: str, is_in_good_standing: IsInGoodStanding) -> None:
        self._standings[member] = is_in_good_standing
        self._now[member] = frozenset()

    def take(self, member: str, epoch: int, partitions: frozenset[TopicPartition]) -> None:
        """From now on the member owns these and no others, in its epoch `epoch`."""
        gained = partitions - self._now[member]
        self._now[member] = partitions
        for where in sorted(partitions):
            owner = self._owners.setdefault((epoch, where), member)
            if owner != member:
                self._history.violate(f"{member} owns {where} of {self.group} in epoch {epoch}, which is {owner}'s")
        for where in sorted(gained):
            for other in sorted(self._now):
                if other != member and where in self._now[other] and self._standings[other]():
                    self._history.violate(f"{member} gets {where} of {self.group}, which {other} still reads from")

    def abandon(self, member: str) -> None:
        self._now[member] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether every partition has one owner."""
        owned = sorted(where for partitions in self._now.values() for where in partitions)
        return owned == sorted(self.partitions)
