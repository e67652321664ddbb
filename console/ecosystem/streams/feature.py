"""Declares stream jobs on Spark."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.ecosystem.streams",
    database=Database.CLUSTER,
    addresses=(Addresses("streams/", "console.ecosystem.streams.urls"),),
    pushed_pages=(
        PushedPage("streams", (groups.STREAMS,)),
        PushedPage("stream", (groups.processes,), of_name=groups.stream_named),
    ),
)
