"""Features: what a release supports, and the level of each that a cluster has finalized (KIP-584, KIP-1022).

A level that is finalized is used by every broker of the cluster, and each of them supports it. 0 stands for a feature
that is not used.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class SupportedFeature(NamedTuple):
    """The levels of a feature that a broker supports, both inclusive."""

    name: str
    min_version: int
    max_version: int

    def supports(self, level: int) -> bool:
        """Return whether a cluster at that level can have the broker; 0, which uses nothing, it always can."""
        return level == 0 or self.min_version <= level <= self.max_version


class FinalizedFeatures(NamedTuple):
    """The finalized levels above 0 by feature."""

    levels: Mapping[str, int]
    #: Rises with each change, also where the znode was removed and written anew; -1 where nothing was ever finalized.
    epoch: int
    #: Of the znode, -1 without one.
    zk_version: int = -1


NOTHING_FINALIZED = FinalizedFeatures({}, -1)

#: 1: groups of the consumer protocol (KIP-848).
GROUP_VERSION = "group.version"
#: 1: nothing of its own here. 2: the end of a transaction raises the epoch of its producer (KIP-890, part 2).
TRANSACTION_VERSION = "transaction.version"
#: 1: eligible leader replicas are kept beside the ISR (KIP-966).
ELIGIBLE_LEADER_REPLICAS_VERSION = "eligible.leader.replicas.version"
#: Of this release. A feature is listed here once all of it is served.
SUPPORTED_FEATURES: tuple[SupportedFeature, ...] = (
    SupportedFeature(ELIGIBLE_LEADER_REPLICAS_VERSION, 0, 1),
    SupportedFeature(GROUP_VERSION, 0, 1),
    SupportedFeature(TRANSACTION_VERSION, 0, 2),
)


def highest_levels(supported: Iterable[SupportedFeature]) -> dict[str, int]:
    """Return what a new cluster finalizes: the highest level of each feature."""
    return {feature.name: feature.max_version for feature in supported if feature.max_version > 0}


def unsupported_levels(finalized: FinalizedFeatures, supported: Iterable[SupportedFeature]) -> dict[str, int]:
    """Return the finalized levels that a broker which supports `supported` cannot serve."""
    known = {feature.name: feature for feature in supported}
    return {
        name: level
        for name, level in finalized.levels.items()
        if level and not (name in known and known[name].supports(level))
    }
