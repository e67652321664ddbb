"""Declares the processes that the console runs."""

from console.kit.access.places import Place
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.declaration import (
    Addresses,
    Database,
    Feature,
    FormsOf,
    Link,
    PushedPage,
    SameAction,
    Section,
)
from console.kit.live import groups

FEATURE = Feature(
    package="console.processes",
    database=Database.CLUSTER,
    addresses=(Addresses("processes/", "console.processes.urls"),),
    links=(
        Link(
            "Processes", "processes", section=Section.RUNNING, resource=Resource.PROCESS, needs=("manages_processes",)
        ),
    ),
    places=(Place("Processes", "processes", "start stop restart", resource=Resource.PROCESS),),
    commands=(Place("Add a broker", "process-add-broker", "new", right=Right.OPERATE),),
    pushed_pages=(PushedPage("processes", (groups.processes,)),),
    forms=(FormsOf("process", ("process-restart-always", "process-restart-never", "process-start")),),
    same_actions=(
        SameAction("kill process", ("stop",)),
        SameAction("remove process", ("stop",)),
    ),
)
