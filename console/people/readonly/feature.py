"""Declares read-only mode of the console and of clusters."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.declaration import Feature, FormsOf, PageLink, RouteModule, SidebarEntry

FEATURE = Feature(
    package="console.people.readonly",
    addresses=(RouteModule("", "console.people.readonly.urls"),),
    links=(
        PageLink("Read-only mode", "read-only", entry=SidebarEntry.CHANGES, needs=("can_administer",), after="changes"),
    ),
    places=(PagePlace("Read-only mode", "read-only", "freeze", right=Right.ADMINISTER),),
    forms=(FormsOf("read-only", ("read-only-switch",)),),
    always_open=("read-only-switch",),
)
