"""Declares the message audit by time windows."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.ecosystem.completeness",
    database=Database.CLUSTER,
    addresses=(Addresses("completeness/", "console.ecosystem.completeness.urls"),),
    pushed_pages=(PushedPage("completeness", (groups.COMPLETENESS,)),),
)
