"""Declares the processes that the console runs."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.processes",
    database=Database.CLUSTER,
    addresses=(Addresses("processes/", "console.processes.urls"),),
    pushed_pages=(PushedPage("processes", (groups.processes,)),),
)
