"""How fast logs grow, from how large they were at two looks. Pure."""

from collections.abc import Mapping

from console.kit.gateway.brokers.interface import ReplicaSizes


def appended_bytes(
    before: ReplicaSizes, after: ReplicaSizes, leaders: Mapping[tuple[str, int], int | None]
) -> dict[int, int]:
    """Return the bytes that each leader's partitions grew by. A log that became smaller counts as not grown: retention
    deleted from it, and what came in meanwhile nobody can tell.
    """
    grown: dict[int, int] = {}
    for place, sizes in after.items():
        leader = leaders.get(place)
        if leader is None or leader not in sizes:
            continue
        known = before.get(place, {}).get(leader)
        if known is not None:
            grown[leader] = grown.get(leader, 0) + max(0, sizes[leader] - known)
    return grown
