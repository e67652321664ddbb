"""Declares the KRaft quorum and the features of a cluster."""

from console.kit.access.places import Place
from console.kit.features.api import Read
from console.kit.features.declaration import Addresses, Entry, Feature, Link

FEATURE = Feature(
    package="console.cluster.quorum",
    addresses=(Addresses("quorum/", "console.cluster.quorum.urls"),),
    links=(Link("KRaft quorum", "quorum", entry=Entry.BROKERS, needs=("has_no_zookeeper",), after="placement"),),
    places=(Place("KRaft quorum", "quorum", "controller voters observers metadata features", after="zookeeper"),),
    reads=(Read("quorum", "quorum", "KRaft quorum and features of the cluster", after="zookeeper"),),
)
