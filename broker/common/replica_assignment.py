"""The replicas of one partition, at rest or on the move (KIP-455).

While a partition moves, `replicas` holds everybody involved, those of the target first and in its order; `adding` and
`removing` say who came with the move and who goes with it. From the three follow where the partition came from and
where it goes, so that the topic's znode alone tells a new controller how to go on. A replica that is in both belongs to
a plan that was given up: it is of neither end, and must go before the move is over.
"""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReplicaAssignment:
    """Broker ids, preferred leader first."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def is_reassigning(self) -> bool:
        return bool(self.adding or self.removing)

    @property
    def target(self) -> tuple[int, ...]:
        return tuple(replica for replica in self.replicas if replica not in self.removing)

    @property
    def origin(self) -> tuple[int, ...]:
        """The members the partition had before the move; their order may be the target's by now."""
        return tuple(replica for replica in self.replicas if replica not in self.adding)

    def reassigned_to(self, target: tuple[int, ...]) -> "ReplicaAssignment":
        """Return the assignment on its way to `target`, from the same origin. No replica is dropped here."""
        replicas = tuple(dict.fromkeys((*target, *self.replicas)))
        return ReplicaAssignment(
            replicas,
            adding=tuple(replica for replica in replicas if replica not in self.origin),
            removing=tuple(replica for replica in replicas if replica not in target),
        )

    def in_sync_targets(self, isr: tuple[int, ...], online: Collection[int]) -> tuple[int, ...]:
        """Return the members of the ISR that stay when the move ends now; empty while it cannot end.

        It ends when all of the target is in sync and alive. A move that goes back to where it began ends at once if
        only some of them are: to call a move off must not need a broker that was away before it.
        """
        staying = tuple(replica for replica in isr if replica in self.target and replica in online)
        goes_back = set(self.target) == set(self.origin)
        return staying if goes_back or set(self.target) <= set(staying) else ()
