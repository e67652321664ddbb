"""The console's settings, with a large cluster in memory where the real one is; only who asks for it holds it."""

from console.settings import *  # noqa: F403

CLUSTER_GATEWAY = "tests.bench.console.cluster.LargeCluster"
