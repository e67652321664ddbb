"""Declares charts of the cluster and its parts."""

from console.kit.access.places import Place
from console.kit.access.roles import Right
from console.kit.features.declaration import Addresses, Database, Feature, Link, PushedPage, Section, Tab
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.charts",
    database=Database.CLUSTER,
    addresses=(Addresses("", "console.cluster.charts.urls"),),
    links=(Link("Charts", "charts", section=Section.WATCHING, needs=("sees_all_names",)),),
    places=(Place("Charts", "charts", "rates requests latency", names_all=True),),
    topic_tabs=(Tab("charts", "topic-charts", Right.VIEW),),
    pushed_pages=(PushedPage("charts", (groups.CHARTS,)),),
)
