"""The console's settings, with a large cluster in memory where the real one is."""

from console.gateway import connect
from console.settings import *  # noqa: F403
from tests.bench.console.cluster import LargeCluster

_cluster = LargeCluster()
connect.cluster_gateway = lambda: _cluster
