"""The console's settings, with a large cluster in memory where the real one is; only who asks for it holds it."""

from functools import cache

from console.gateway import connect
from console.settings import *  # noqa: F403


@cache
def _large_cluster():
    from tests.bench.console.cluster import LargeCluster

    return LargeCluster()


connect.cluster_gateway = _large_cluster
