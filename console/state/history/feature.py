"""Declares the history of changes in the cluster."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.state.history",
    database=Database.CLUSTER,
    addresses=(Addresses("", "console.state.history.urls"),),
    pushed_pages=(PushedPage("history", (groups.HISTORY,)),),
)
