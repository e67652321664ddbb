"""Declares the producers and transactions of a topic."""

from console.kit.access.roles import Right
from console.kit.features.declaration import Addresses, Feature, Tab

FEATURE = Feature(
    package="console.cluster.producers",
    addresses=(Addresses("topics/", "console.cluster.producers.urls"),),
    topic_tabs=(Tab("producers", "topic-producers", Right.VIEW, after="topic-consumers"),),
)
