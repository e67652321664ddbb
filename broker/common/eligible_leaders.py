"""Eligible leader replicas: which replicas outside the ISR hold every committed record (KIP-966)."""

from collections.abc import Collection, Iterable


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
