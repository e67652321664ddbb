"""Declares changes that wait for approval or a window."""

from console.kit.access.places import Place
from console.kit.access.roles import Right
from console.kit.features.declaration import Addresses, Database, Feature, FormsOf, Link, PushedPage, Section
from console.kit.live import groups

FEATURE = Feature(
    package="console.shell.changes",
    database=Database.CLUSTER,
    addresses=(Addresses("changes/", "console.shell.changes.urls"),),
    links=(
        Link(
            "Changes",
            "changes",
            section=Section.CLUSTER,
            needs=("may_decide_changes",),
            badge="changes/partials/count.html",
            after="declaration",
        ),
    ),
    places=(Place("Changes", "changes", "approve second person waiting windows freeze rules", right=Right.OPERATE),),
    pushed_pages=(PushedPage("changes", (groups.CHANGES_OF_RULES,)),),
    forms=(FormsOf("change", ("change-approve", "change-discard")),),
)
