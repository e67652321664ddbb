"""Declares the pages of the schema registry."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction
from console.kit.features.declaration import (
    Feature,
    ObjectHeader,
    PageLink,
    PushedPage,
    RouteModule,
    SameAction,
    SidebarEntry,
)
from console.kit.features.table import FeatureTable, columns_of
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb

#: Pages of schemas, told again and again which state of the registry is the newest.
LIVE_GROUP = "schemas"

_SCHEMAS = PagePlace("Schemas", "schemas", "registry avro protobuf subjects", resource=Resource.TOPIC)

FEATURE = Feature(
    package="console.cluster.schemas",
    addresses=(RouteModule("schemas/", "console.cluster.schemas.urls"),),
    links=(
        PageLink("Schemas", "schemas", entry=SidebarEntry.SCHEMAS, resource=Resource.TOPIC, needs=("has_registry",)),
    ),
    places=(_SCHEMAS,),
    commands=(
        PagePlace(
            "Register a schema",
            "schema-register",
            "new avro",
            resource=Resource.TOPIC,
            right=Right.OPERATE,
            after="stream-choose",
        ),
    ),
    verbs=(
        Verb(
            "New version of {name}",
            ObjectKind.SUBJECT,
            "schema-register",
            query="subject",
            button="New version…",
        ),
        Verb("Compatibility of {name}", ObjectKind.SUBJECT, "schema-settings", button="Compatibility…"),
        Verb("Restore {name}", ObjectKind.SUBJECT, "schema-restore", button="Restore…"),
        Verb("Delete subject {name}", ObjectKind.SUBJECT, "schema-delete", button="Delete subject…", is_deletion=True),
        Verb(
            "Delete {name} for good",
            ObjectKind.SUBJECT,
            "schema-delete",
            fixed=(("permanent", "on"),),
            button="Delete for good…",
            is_deletion=True,
        ),
    ),
    headers=(
        ObjectHeader("subject", ObjectKind.SUBJECT, "console.cluster.schemas.header.facts", "Schemas", "schemas"),
    ),
    pushed_pages=(PushedPage("schemas", (LIVE_GROUP,), is_only_news=True),),
    actions=(
        ApiAction(
            "register-schema",
            "schema-register",
            "Register a schema",
            form=("subject", "type", "text", "references"),
            after="change-rules",
        ),
        ApiAction(
            "change-subject",
            "schema-settings",
            "Compatibility and mode of a subject",
            path=("subject",),
            form=("level", "mode"),
        ),
        ApiAction(
            "change-schemas", "schema-defaults", "Compatibility and mode of all other subjects", form=("level", "mode")
        ),
        ApiAction(
            "delete-schema",
            "schema-delete",
            "Delete a subject, or a version",
            path=("subject",),
            query=("version", "permanent"),
        ),
        ApiAction(
            "restore-schema",
            "schema-restore",
            "Register again what was deleted of a subject, all or one `version`",
            path=("subject",),
            query=("version",),
        ),
    ),
    same_actions=(SameAction("restore schema", ("register schema",)),),
    tables=(
        FeatureTable(
            _SCHEMAS,
            columns_of("Subject, Type, Latest, Id, Versions, Compatibility"),
            order=("deleted",),
            filters=("search",),
            rows=25,
        ),
    ),
    suggested_actions=("* schema*",),
    tiers=(CollectorTier("schemas", 2.0, "console.cluster.schemas.collect.tier"),),
)
