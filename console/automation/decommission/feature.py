"""Declares the decommission of a broker."""

from console.kit.features.api import ApiAction
from console.kit.features.declaration import Database, Feature, FormsOf, RouteModule, SameAction
from console.kit.features.verbs import ObjectKind, Verb

FEATURE = Feature(
    package="console.automation.decommission",
    database=Database.CLUSTER,
    addresses=(RouteModule("processes/+decommission/", "console.automation.decommission.urls"),),
    template_libraries=("decommission",),
    verbs=(
        Verb(
            "Drain and remove {name}",
            ObjectKind.PROCESS,
            "decommission",
            "decommission",
            all_topics=True,
            process_kind="broker",
            button="Drain and remove…",
            is_deletion=True,
            after="process: Remove {name}",
        ),
    ),
    actions=(
        ApiAction(
            "decommission",
            "decommission",
            "Drain a broker and remove it",
            path=("name",),
            query=("throttle",),
            after="set-healing",
        ),
    ),
    forms=(FormsOf("decommission", ("decommission-call-off", "decommission-resume")),),
    same_actions=(
        SameAction("drain and remove broker", ("move partitions",)),
        SameAction("resume decommission", ("drain and remove broker",)),
    ),
    suggested_actions=("drain and remove broker",),
)
