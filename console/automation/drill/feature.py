"""Declares drills that inject a fault on purpose."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import Database, Feature, FormsOf, RouteModule, SameAction

FEATURE = Feature(
    package="console.automation.drill",
    database=Database.CLUSTER,
    addresses=(RouteModule("drills/", "console.automation.drill.urls"),),
    commands=(
        PagePlace(
            "Drills",
            "drills",
            "chaos fault pause slow kill test report",
            resource=Resource.PROCESS,
            names_all=True,
            after="process-add-broker",
        ),
    ),
    reads=(
        ApiRead("drills", "drills", "Drills, and how they ended", after="topics/{name}/delivery"),
        ApiRead("drills/{int:number}", "drill", "What was expected of a drill, and what was measured"),
    ),
    actions=(
        ApiAction(
            "begin-drill",
            "drill-begin",
            "Kill, pause or slow one process on purpose: `whom` controller, leader, zookeeper-leader or process:NAME",
            form=("fault", "whom", "topic", "seconds"),
            after="decommission",
        ),
    ),
    forms=(FormsOf("drill", ("drill-stop",)),),
    always_open=("drill-stop",),
    same_actions=(SameAction("begin drill", ("stop", "kill process")),),
)
