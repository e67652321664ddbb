"""Declares SCRAM credentials of Kafka users."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiRead
from console.kit.features.declaration import (
    Database,
    Feature,
    ObjectHeader,
    PageLink,
    PushedPage,
    RouteModule,
    RowKind,
    SidebarEntry,
)
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb

#: Told that a person changed a user of Kafka here.
LIVE_GROUP = "credentials"

FEATURE = Feature(
    package="console.cluster.credentials",
    database=Database.CLUSTER,
    addresses=(RouteModule("kafka-users/", "console.cluster.credentials.urls"),),
    links=(PageLink("Kafka users", "credentials", entry=SidebarEntry.ACCESS, needs=("sees_all_names",), after="acls"),),
    places=(PagePlace("Kafka users", "credentials", "scram passwords", names_all=True),),
    commands=(
        PagePlace(
            "Create a Kafka user",
            "credential-create",
            "scram new",
            right=Right.ADMINISTER,
            names_all=True,
            after="acl-file",
        ),
    ),
    verbs=(
        Verb(
            "Kafka user {name}",
            ObjectKind.PRINCIPAL,
            "credentials",
            "scram password",
            Right.VIEW,
            query="search",
            after="principal: Topics and groups {name} may use",
        ),
        Verb(
            "Change the password of {name}",
            ObjectKind.SCRAM_USER,
            "credential-password",
            right=Right.ADMINISTER,
            button="Change password…",
        ),
        Verb(
            "Delete Kafka user {name}",
            ObjectKind.SCRAM_USER,
            "credential-delete",
            right=Right.ADMINISTER,
            button="Delete user…",
            is_deletion=True,
        ),
    ),
    headers=(
        ObjectHeader(
            "principal", ObjectKind.SCRAM_USER, "console.cluster.credentials.header.facts", "Kafka users", "credentials"
        ),
    ),
    pushed_pages=(PushedPage("credentials", (LIVE_GROUP,), names_all=True),),
    row_kinds=(RowKind("scram-row", "console.cluster.credentials.row_renderers.scram_rows"),),
    reads=(ApiRead("kafka-users", "credentials", "Users of the cluster that log in by SCRAM", after="users"),),
    suggested_actions=("delete Kafka user",),
    secret_actions=("create Kafka user", "change password of Kafka user"),
    tiers=(CollectorTier("users", 10.0, "console.cluster.credentials.collect.tier"),),
)
