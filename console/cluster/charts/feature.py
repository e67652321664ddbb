"""Declares charts of the cluster and its parts."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.charts",
    database=Database.CLUSTER,
    addresses=(Addresses("", "console.cluster.charts.urls"),),
    pushed_pages=(PushedPage("charts", (groups.CHARTS,)),),
)
