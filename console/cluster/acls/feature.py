"""Declares access control lists of the cluster."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.cluster.acls",
    addresses=(Addresses("access-lists/", "console.cluster.acls.urls"),),
    template_libraries=("acls",),
)
