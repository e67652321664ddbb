"""Declares the graph of what reads and writes topics."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Feature, PageLink, RouteModule, SidebarEntry
from console.kit.features.verbs import ObjectKind, Verb

FEATURE = Feature(
    package="console.signals.dependencies",
    addresses=(RouteModule("dependencies/", "console.signals.dependencies.urls"),),
    links=(PageLink("Lineage", "dependencies", entry=SidebarEntry.LINEAGE, resource=Resource.TOPIC),),
    places=(
        PagePlace(
            "Lineage",
            "dependencies",
            "dependencies graph what hangs on what reads writes who produces consumes",
            resource=Resource.TOPIC,
        ),
    ),
    verbs=tuple(
        Verb(
            f"Lineage of {kind} {{name}}",
            kind,
            "dependencies",
            "dependencies reads writes",
            Right.VIEW,
            query="name",
            fixed=(("kind", kind),),
            button="Lineage",
        )
        for kind in (ObjectKind.TOPIC, ObjectKind.GROUP)
    ),
    reads=(
        ApiRead(
            "dependencies",
            "dependencies",
            "Producers and consumers of topics; with `kind` and `name` the surroundings of one object",
            after="history",
        ),
    ),
)
