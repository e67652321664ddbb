"""Declares the ZooKeeper ensemble and its znodes."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.zookeeper",
    database=Database.CLUSTER,
    addresses=(Addresses("zookeeper/", "console.cluster.zookeeper.urls"),),
    template_libraries=("znodes",),
)
