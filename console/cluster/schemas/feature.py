"""Declares the pages of the schema registry."""

from console.kit.access.places import Place
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.declaration import Addresses, Feature, Link, PushedPage, SameAction, Section
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.schemas",
    addresses=(Addresses("schemas/", "console.cluster.schemas.urls"),),
    links=(Link("Schemas", "schemas", section=Section.CLUSTER, resource=Resource.TOPIC, needs=("has_registry",)),),
    places=(Place("Schemas", "schemas", "registry avro protobuf subjects", resource=Resource.TOPIC),),
    commands=(
        Place(
            "Register a schema",
            "schema-register",
            "new avro",
            resource=Resource.TOPIC,
            right=Right.OPERATE,
            after="stream-choose",
        ),
    ),
    pushed_pages=(PushedPage("schemas", (groups.SCHEMAS,), is_only_news=True),),
    same_actions=(SameAction("restore schema", ("register schema",)),),
)
