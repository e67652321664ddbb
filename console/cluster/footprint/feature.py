"""Declares the console's own requests to brokers."""

from console.kit.access.places import Place
from console.kit.features.api import Read
from console.kit.features.declaration import Addresses, Feature, Link, PushedPage, Section
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.footprint",
    addresses=(Addresses("footprint/", "console.cluster.footprint.urls"),),
    links=(Link("Footprint", "footprint", section=Section.WATCHING),),
    places=(Place("Footprint", "footprint", "own requests console load budget reading in flight"),),
    pushed_pages=(PushedPage("footprint", (groups.FOOTPRINT,), is_only_news=True),),
    reads=(
        Read(
            "footprint",
            "footprint",
            "The console's own requests of the last minute, by broker and API",
            after="kafka-users",
        ),
    ),
)
