"""The collector's look at the KRaft quorum; by it the console knows that a cluster is KRaft, whatever is configured."""

from dataclasses import asdict
from functools import partial

from console.cluster.quorum.members import summary_of
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.quorum.interface import QuorumGateway
from console.kit.gateway.quorum.metadata_versions import ELIGIBLE_LEADERS, FEATURE
from console.state.clusters.store import update_state
from console.state.consumers.tiers import TierContext, TierLook


def tier(context: TierContext) -> TierLook:
    return TierLook(partial(_look, context), lambda error: update_state(quorum_error=error))


def _look(context: TierContext) -> None:
    gateway = context.gateway.quorum
    try:
        summary = asdict(summary_of(gateway.describe(), context.clock_ms())) | {"keeps_elr": _keeps_elr(gateway)}
    except RefusedError as error:
        if _is_kraft(gateway):
            update_state(quorum={"voter_count": 0}, quorum_error=str(error))
        else:
            update_state(quorum={}, quorum_error="")
    else:
        update_state(quorum=summary, quorum_error="")


def _keeps_elr(gateway: QuorumGateway) -> bool:
    """Return True if the cluster keeps eligible leader replicas (KIP-966)."""
    return any(feature.name == ELIGIBLE_LEADERS and bool(feature.finalized) for feature in gateway.features())


def _is_kraft(gateway: QuorumGateway) -> bool:
    """Return True if metadata.version is finalized, as no cluster with ZooKeeper has it (KIP-584, KIP-778)."""
    return any(feature.name == FEATURE and feature.finalized is not None for feature in gateway.features())
