"""What the collector last wrote about the cluster, as the truths of processes need it: two queries for all of them.

And the one thing that is written about processes there: when they were last looked at.
"""

from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.processes.truths import BrokerPresence, ClusterLook
from console.state.clusters.models import Broker, ClusterState
from console.state.clusters.queries import all_brokers, cluster_state


def cluster_look() -> ClusterLook:
    state = cluster_state()
    return ClusterLook(
        now_ms=now_ms(),
        brokers_at_ms=state.brokers_at_ms,
        brokers_error=state.brokers_error,
        partitions_at_ms=0 if state.topics_error else state.topics_at_ms,
        controller_id=state.controller_id,
        brokers={broker.broker_id: _seen(broker) for broker in all_brokers()},
        zookeeper_at_ms=state.zookeeper_at_ms,
        zookeeper=state.zookeeper,
    )


def note_look() -> None:
    """Note that all processes of this host were checked just now, for the age shown by pages."""
    ClusterState.objects.filter(name=DEFAULT_CLUSTER).update(processes_at_ms=now_ms())


def _seen(broker: Broker) -> BrokerPresence:
    incomplete = broker.out_of_sync_count + broker.copying_count
    return BrokerPresence(broker.is_registered, broker.replica_count, broker.replica_count - incomplete)
