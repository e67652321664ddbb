"""The feature of clusters declared in files."""

from console.kit.access.places import PagePlace
from console.kit.features.api import ApiAction
from console.kit.features.declaration import Feature, PageLink, RouteModule, SidebarEntry

FEATURE = Feature(
    package="console.automation.declared",
    addresses=(RouteModule("declaration/", "console.automation.declared.urls"),),
    links=(PageLink("Cluster as code", "declaration", entry=SidebarEntry.CHANGES),),
    places=(PagePlace("Cluster as code", "declaration", "declaration files yaml gitops apply diff drift export"),),
    actions=(
        ApiAction(
            "apply-declaration",
            "declaration",
            "Make the cluster as files declare it: `text` and the name of its `file`, as often as "
            "wanted; `prune` takes away what they do not declare within their scope, topics after a "
            "day, or with `at_once` now",
            form=("text", "file", "prune", "at_once"),
        ),
    ),
)
