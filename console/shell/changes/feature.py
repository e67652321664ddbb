"""Declares changes that wait for approval or a window."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import (
    Database,
    EntryMark,
    Feature,
    FormsOf,
    PageLink,
    PushedPage,
    RouteModule,
    SidebarEntry,
)
from console.kit.features.hook import Hook

LIVE_GROUP = "changes.list"

FEATURE = Feature(
    package="console.shell.changes",
    database=Database.CLUSTER,
    addresses=(RouteModule("changes/", "console.shell.changes.urls"),),
    links=(
        PageLink(
            "Approvals",
            "changes",
            entry=SidebarEntry.CHANGES,
            needs=("may_decide_changes",),
            after="declaration",
        ),
    ),
    marks=(EntryMark(SidebarEntry.CHANGES, "console.shell.changes.queries.count_for", "waiting", is_personal=True),),
    places=(
        PagePlace(
            "Approvals", "changes", "changes approve second person waiting windows freeze rules", right=Right.OPERATE
        ),
    ),
    pushed_pages=(PushedPage("changes", (LIVE_GROUP,)),),
    reads=(
        ApiRead(
            "changes",
            "changes",
            "Changes that wait for a second person or for their time, and those that did",
            after="past/topics/{name}/partitions",
        ),
    ),
    actions=(
        ApiAction(
            "approve-change",
            "change",
            "Approve a change that waits, and have it carried out",
            path=("number",),
            confirms="change-approve",
            after="apply-declaration",
        ),
        ApiAction(
            "discard-change",
            "change-discard",
            "Discard a change that waits",
            path=("number",),
            form=("why",),
            is_at_once=True,
        ),
    ),
    forms=(FormsOf("change", ("change-approve", "change-discard")),),
    hooks=(Hook("console.kit.plans.gate.GATE", "console.shell.changes.deciding.RulesGate"),),
)
