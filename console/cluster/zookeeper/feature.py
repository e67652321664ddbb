"""Declares the ZooKeeper ensemble and its znodes."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.zookeeper",
    database=Database.CLUSTER,
    addresses=(Addresses("zookeeper/", "console.cluster.zookeeper.urls"),),
    template_libraries=("znodes",),
    pushed_pages=(PushedPage("zookeeper", (groups.ZOOKEEPER, groups.ensemble_changes)),),
)
