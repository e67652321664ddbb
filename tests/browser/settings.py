"""The console's settings with a small cluster in memory where the real one is: full pages that wait for nobody."""

from console.settings import *  # noqa: F403

CLUSTER_GATEWAY = "tests.browser.small_cluster.small_cluster"
ZOOKEEPER_GATEWAY = "tests.browser.small_cluster.small_ensemble"
