"""Declares the owner, labels and description of topics."""

from console.kit.access.roles import Right
from console.kit.features.declaration import Addresses, Database, Feature, Tab

FEATURE = Feature(
    package="console.cluster.notes",
    database=Database.CLUSTER,
    addresses=(Addresses("topics/", "console.cluster.notes.urls"),),
    topic_tabs=(Tab("about", "topic-about", Right.OPERATE, after="topic-purge"),),
)
