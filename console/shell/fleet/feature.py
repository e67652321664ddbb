"""Declares the clusters of this console."""

from console.kit.features.declaration import Addresses, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.shell.fleet",
    addresses=(Addresses("clusters/", "console.shell.fleet.urls"),),
    template_libraries=("clusters",),
    pushed_pages=(PushedPage("clusters", (groups.FLEET,)),),
)
