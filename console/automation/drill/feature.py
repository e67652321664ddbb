"""Declares drills that inject a fault on purpose."""

from console.kit.access.places import Place
from console.kit.access.reach import Resource
from console.kit.features.declaration import Addresses, Database, Feature, FormsOf, SameAction

FEATURE = Feature(
    package="console.automation.drill",
    database=Database.CLUSTER,
    addresses=(Addresses("drills/", "console.automation.drill.urls"),),
    commands=(
        Place(
            "Drills",
            "drills",
            "chaos fault pause slow kill test report",
            resource=Resource.PROCESS,
            names_all=True,
            after="process-add-broker",
        ),
    ),
    forms=(FormsOf("drill", ("drill-stop",)),),
    always_open=("drill-stop",),
    same_actions=(SameAction("begin drill", ("stop", "kill process")),),
)
