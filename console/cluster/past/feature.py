"""Declares the cluster as it was at a moment."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Database, Feature, PageLink, RouteModule, SidebarEntry
from console.kit.features.hook import Hook
from console.kit.features.verbs import ObjectKind, Verb

FEATURE = Feature(
    package="console.cluster.past",
    database=Database.CLUSTER,
    addresses=(RouteModule("history/at/", "console.cluster.past.urls"),),
    links=(PageLink("Time travel", "past", entry=SidebarEntry.ACTIVITY, after="history"),),
    verbs=tuple(
        Verb(title, ObjectKind.TOPIC, route, words, Right.VIEW, button=button)
        for title, route, words, button in (
            ("{name} as it was", "past-topic", "time travel then", "Time travel…"),
            ("Leaders of {name} over time", "past-bands", "isr then", "Leaders over time…"),
        )
    ),
    places=(PagePlace("Time travel", "past", "as it was history placement then"),),
    reads=(
        ApiRead(
            "topics/{name}/leaders",
            "past-bands",
            "Leaders and ISR of a topic's partitions over a span of time",
            after="mirrors/{int:number}/charts",
        ),
        ApiRead("past/topics", "past", "Topics as they were at the moment `at`"),
        ApiRead(
            "past/groups", "past", "Consumer groups as they were at the moment `at`", chosen=(("table", "groups"),)
        ),
        ApiRead("past/brokers", "past", "Brokers as they were at the moment `at`", chosen=(("table", "brokers"),)),
        ApiRead(
            "past/topics/{name}/partitions",
            "past-topic",
            "Leaders, replicas and ISR of a topic at the moment `at`, and now",
        ),
    ),
    hooks=(Hook("console.state.consumers.tiers.OBSERVERS", "console.cluster.past.collect.observer"),),
)
