"""Declares the cluster as files declare it."""

from console.kit.access.places import Place
from console.kit.features.declaration import Addresses, Feature, Link, Section

FEATURE = Feature(
    package="console.automation.declared",
    addresses=(Addresses("declaration/", "console.automation.declared.urls"),),
    links=(Link("Declaration", "declaration", section=Section.CLUSTER),),
    places=(Place("Declaration", "declaration", "files yaml gitops apply diff drift export"),),
)
