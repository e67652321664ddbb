"""Declares self-healing and its proposals."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.automation.healing",
    database=Database.CLUSTER,
    addresses=(Addresses("healing/", "console.automation.healing.urls"),),
    pushed_pages=(PushedPage("healing", (groups.HEALING,), names_all=True),),
)
