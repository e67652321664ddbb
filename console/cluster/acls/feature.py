"""Declares access control lists of the cluster."""

from console.kit.features.declaration import Addresses, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.acls",
    addresses=(Addresses("access-lists/", "console.cluster.acls.urls"),),
    template_libraries=("acls",),
    pushed_pages=(PushedPage("acls", (groups.ACLS,), names_all=True),),
)
