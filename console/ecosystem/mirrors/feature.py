"""Declares mirrors between clusters."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.ecosystem.mirrors",
    database=Database.CLUSTER,
    addresses=(Addresses("mirrors/", "console.ecosystem.mirrors.urls"),),
    pushed_pages=(PushedPage("mirrors", (groups.MIRRORS,)),),
)
