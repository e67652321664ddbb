"""Declares the records of a topic."""

from console.kit.access.roles import Right
from console.kit.features.declaration import Addresses, Feature, FormsOf, Tab

FEATURE = Feature(
    package="console.cluster.records",
    is_app=True,
    addresses=(Addresses("topics/", "console.cluster.records.urls"),),
    topic_tabs=(Tab("records", "topic-records", Right.RECORDS),),
    forms=(FormsOf("topic-records", ("topic-produce",)),),
)
