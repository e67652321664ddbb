"""Declares the owner, labels and description of topics."""

from console.kit.access.roles import Right
from console.kit.features.api import ApiAction
from console.kit.features.declaration import Database, Feature, RouteModule, Tab

FEATURE = Feature(
    package="console.cluster.notes",
    database=Database.CLUSTER,
    addresses=(RouteModule("topics/", "console.cluster.notes.urls"),),
    tabs=(Tab("about", "topic-about", Right.OPERATE),),
    actions=(
        ApiAction(
            "describe-topic",
            "topic-about",
            "Say whose a topic is: `labels` with spaces, `links` one on a line; what is left out is taken away",
            path=("name",),
            form=("owner", "labels", "links", "description"),
            after="change-retention",
        ),
    ),
)
