"""Declares mirrors between clusters."""

from console.kit.access.places import Place
from console.kit.access.reach import Resource
from console.kit.features.api import Read
from console.kit.features.declaration import Addresses, Database, Feature, Link, PushedPage, SameAction, Section
from console.kit.live import groups

FEATURE = Feature(
    package="console.ecosystem.mirrors",
    database=Database.CLUSTER,
    addresses=(Addresses("mirrors/", "console.ecosystem.mirrors.urls"),),
    links=(Link("Mirrors", "mirrors", section=Section.RUNNING, resource=Resource.TOPIC, after="streams"),),
    places=(Place("Mirrors", "mirrors", "copies clusters", resource=Resource.TOPIC),),
    pushed_pages=(PushedPage("mirrors", (groups.MIRRORS,)),),
    reads=(
        Read("mirrors", "mirrors", "What is copied between clusters, by partition", after="connectors"),
        Read("mirrors/{int:number}/charts", "mirror-charts", "What is charted of a mirrored topic"),
    ),
    same_actions=(SameAction("move consumer group", ("reset offsets",)),),
)
