"""Declares the clusters of this console."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Feature, PageLink, PushedPage, RouteModule, SidebarEntry
from console.kit.live import groups

FEATURE = Feature(
    package="console.shell.fleet",
    addresses=(RouteModule("clusters/", "console.shell.fleet.urls"),),
    template_libraries=("clusters",),
    links=(
        PageLink("Clusters", "clusters", entry=SidebarEntry.ACCOUNT, needs=("manages_processes", "can_administer")),
    ),
    commands=(PagePlace("Add a cluster", "cluster-add", "new connect", right=Right.ADMINISTER),),
    pushed_pages=(PushedPage("clusters", (groups.FLEET,)),),
    reads=(
        ApiRead("clusters", "clusters", "Clusters of this console in which the token's person may look at anything"),
        ApiRead(
            "clusters/compare", "cluster-compare", "What differs between two clusters: `left`, `right`, `kind`, `all`"
        ),
    ),
)
