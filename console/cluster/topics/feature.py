"""Declares the pages of topics."""

from console.kit.access.reach import Resource
from console.kit.features.declaration import Addresses, Database, Feature, PushedPage, RowKind
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.topics",
    database=Database.CLUSTER,
    addresses=(Addresses("topics/", "console.cluster.topics.urls"),),
    pushed_pages=(
        PushedPage("topics", (groups.TOPICS,), sorted_rows="topic-row"),
        PushedPage("topic", of_name=groups.topic, resource=Resource.TOPIC),
    ),
    row_kinds=(
        RowKind("topic-row", "console.cluster.topics.row_renderers.topic_rows"),
        RowKind("topic-page", "console.cluster.topics.row_renderers.topic_pages"),
    ),
)
