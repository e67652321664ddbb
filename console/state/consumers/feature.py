"""Declares consumer groups and their lag."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage, RowKind

FEATURE = Feature(
    package="console.state.consumers",
    database=Database.CLUSTER,
    addresses=(
        Addresses("topics/", "console.state.consumers.topic_urls"),
        Addresses("consumers/", "console.state.consumers.urls"),
    ),
    pushed_pages=(
        PushedPage("consumers", sorted_rows="group-row"),
        PushedPage("consumer-pages"),
    ),
    row_kinds=(
        RowKind("group-row", "console.state.consumers.row_renderers.group_rows"),
        RowKind("group-page", "console.state.consumers.row_renderers.group_pages"),
    ),
)
