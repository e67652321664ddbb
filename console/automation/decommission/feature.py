"""Declares the decommission of a broker."""

from console.kit.features.api import Action
from console.kit.features.declaration import Addresses, Database, Feature, FormsOf, SameAction

FEATURE = Feature(
    package="console.automation.decommission",
    database=Database.CLUSTER,
    addresses=(Addresses("processes/+decommission/", "console.automation.decommission.urls"),),
    template_libraries=("decommission",),
    actions=(
        Action(
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
