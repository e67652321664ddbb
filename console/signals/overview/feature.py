"""Declares the overview and health of the cluster."""

from console.kit.access.places import Place
from console.kit.features.declaration import Addresses, Feature, FormsOf, Link, PushedPage, Section
from console.kit.live import groups

FEATURE = Feature(
    package="console.signals.overview",
    addresses=(Addresses("", "console.signals.overview.urls"),),
    links=(Link("Overview", "overview", section=Section.TOP),),
    places=(Place("Overview", "overview", "home start"),),
    pushed_pages=(PushedPage("overview", (groups.CLUSTER_OVERVIEW,)),),
    forms=(FormsOf("health", ("health-undo",), is_one_for_all=True),),
)
