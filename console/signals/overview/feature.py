"""Declares the overview and health of the cluster."""

from console.kit.features.declaration import Addresses, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.signals.overview",
    addresses=(Addresses("", "console.signals.overview.urls"),),
    pushed_pages=(PushedPage("overview", (groups.CLUSTER_OVERVIEW,)),),
)
