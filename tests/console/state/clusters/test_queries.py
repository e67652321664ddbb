"""The statement that reads the cluster's state is made once, and reads what is there now."""

import pytest

from console.kit.common.names import DEFAULT_CLUSTER
from console.state.clusters.models import ClusterState
from console.state.clusters.queries import cluster_state

pytestmark = pytest.mark.django_db


def test_before_anything_was_seen_the_state_is_empty_and_not_stored():
    assert (cluster_state().name, cluster_state().pk) == (DEFAULT_CLUSTER, None)
    assert not ClusterState.objects.exists()


def test_what_was_written_is_read_with_its_types(django_assert_num_queries):
    servers = [{"address": "a:1", "error": ""}]
    ClusterState.objects.create(name="another", controller_id=7)
    written = ClusterState.objects.create(name=DEFAULT_CLUSTER, controller_id=1, zookeeper=servers, rate_history=[0.5])
    with django_assert_num_queries(1):
        state = cluster_state()
    assert state == written
    assert (state.controller_id, state.zookeeper, state.rate_history) == (1, servers, [0.5])
    ClusterState.objects.filter(name=DEFAULT_CLUSTER).update(controller_id=2, records_per_second=None)
    assert (cluster_state().controller_id, cluster_state().records_per_second) == (2, None)
