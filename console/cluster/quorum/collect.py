"""The collector's look at the KRaft quorum and the features.

By it the console knows that a cluster is KRaft, whatever is configured, and whether it keeps eligible leader replicas.
"""

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial

from console.cluster.quorum.members import summary_of
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.quorum.interface import FeatureView
from console.kit.gateway.quorum.metadata_versions import ELIGIBLE_LEADERS, FEATURE
from console.state.clusters.store import update_state
from console.state.consumers.tiers import TierContext, TierLook


def tier(context: TierContext) -> TierLook:
    return TierLook(partial(_look, context), lambda error: update_state(quorum_error=error))


def _look(context: TierContext) -> None:
    gateway = context.gateway.quorum
    try:
        summary = asdict(summary_of(gateway.describe(), context.clock_ms()))
    except RefusedError as error:
        features = gateway.features()
        if _is_kraft(features):
            update_state(quorum={"voter_count": 0}, quorum_error=str(error), keeps_elr=_keeps_elr(features))
        else:
            update_state(quorum={}, quorum_error="", keeps_elr=_keeps_elr(features))
    else:
        update_state(quorum=summary, quorum_error="", keeps_elr=_keeps_elr(gateway.features()))


def _keeps_elr(features: Iterable[FeatureView]) -> bool:
    """Return True if the cluster keeps eligible leader replicas (KIP-966)."""
    return any(feature.name == ELIGIBLE_LEADERS and bool(feature.finalized) for feature in features)


def _is_kraft(features: Iterable[FeatureView]) -> bool:
    """Return True if metadata.version is finalized, as no cluster with ZooKeeper has it (KIP-584, KIP-778)."""
    return any(feature.name == FEATURE and feature.finalized is not None for feature in features)
