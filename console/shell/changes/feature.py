"""Declares changes that wait for approval or a window."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.shell.changes",
    database=Database.CLUSTER,
    addresses=(Addresses("changes/", "console.shell.changes.urls"),),
    pushed_pages=(PushedPage("changes", (groups.CHANGES_OF_RULES,)),),
)
