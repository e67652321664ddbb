"""Declares the graph of what reads and writes topics."""

from console.kit.access.places import Place
from console.kit.access.reach import Resource
from console.kit.features.declaration import Addresses, Feature, Link, Section

FEATURE = Feature(
    package="console.signals.dependencies",
    addresses=(Addresses("dependencies/", "console.signals.dependencies.urls"),),
    links=(Link("Dependencies", "dependencies", section=Section.CLUSTER, resource=Resource.TOPIC),),
    places=(
        Place("Dependencies", "dependencies", "graph lineage what hangs on what reads writes", resource=Resource.TOPIC),
    ),
)
