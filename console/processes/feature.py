"""Declares the processes that the console runs."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import (
    Database,
    Feature,
    FormsOf,
    ObjectHeader,
    PageLink,
    PushedPage,
    RouteModule,
    SameAction,
    SidebarEntry,
    Tab,
)
from console.kit.features.hook import Hook
from console.kit.features.table import FeatureTable, columns_of
from console.kit.features.verbs import ObjectKind, Verb
from console.kit.live import groups

_PROCESSES = PagePlace("Processes", "processes", "start stop restart", resource=Resource.PROCESS)

FEATURE = Feature(
    package="console.processes",
    database=Database.CLUSTER,
    addresses=(RouteModule("processes/", "console.processes.urls"),),
    links=(
        PageLink(
            "Processes", "processes", entry=SidebarEntry.SERVICES, resource=Resource.PROCESS, needs=("runs_processes",)
        ),
    ),
    places=(_PROCESSES,),
    commands=(PagePlace("Add a broker", "process-add-broker", "new", right=Right.OPERATE),),
    verbs=(
        Verb("Restart {name}", ObjectKind.PROCESS, "process-restart", "reboot", button="Restart…"),
        Verb("Stop {name}", ObjectKind.PROCESS, "process-stop", "shut down", button="Stop…"),
        Verb("Kill {name}", ObjectKind.PROCESS, "process-kill", button="Kill…"),
        Verb(
            "Remove {name}",
            ObjectKind.PROCESS,
            "process-remove",
            "delete",
            button="Remove process…",
            is_deletion=True,
        ),
    ),
    tabs=(Tab("overview", "process", Right.VIEW, of="process", shown="Overview"),),
    headers=(ObjectHeader("process", ObjectKind.PROCESS, "console.processes.header.facts", "Processes", "processes"),),
    pushed_pages=(PushedPage("processes", (groups.processes, groups.CHARTS)),),
    reads=(
        ApiRead("processes", "processes", "Processes the console runs, and what is true of them", after="zookeeper"),
    ),
    actions=(
        ApiAction("stop-process", "process-stop", "Stop a process", path=("name",), after="restore-schema"),
        ApiAction("restart-process", "process-restart", "Restart a process", path=("name",)),
        ApiAction("kill-process", "process-kill", "Kill a process", path=("name",)),
        ApiAction("remove-process", "process-remove", "Forget a process; its files stay", path=("name",)),
        ApiAction("start-process", "process-start", "Start a process", path=("name",), is_at_once=True),
        ApiAction(
            "restart-always",
            "process-restart-always",
            "Start a process again after it has died",
            path=("name",),
            is_at_once=True,
        ),
        ApiAction(
            "restart-never", "process-restart-never", "Leave a process that has died", path=("name",), is_at_once=True
        ),
        ApiAction("add-broker", "process-add-broker", "Add a broker", form=("broker_id", "port", "log_dirs", "rack")),
    ),
    forms=(FormsOf("process", ("process-restart-always", "process-restart-never", "process-start")),),
    same_actions=(
        SameAction("kill process", ("stop",)),
        SameAction("remove process", ("stop",)),
    ),
    hooks=(Hook("console.kit.access.internal_topics.NAMED_BY", "console.processes.service_topics.topics_of_services"),),
    tables=(
        FeatureTable(
            _PROCESSES,
            columns_of("Process, State, Port, Pid, Up for, Memory, CPU"),
        ),
    ),
    suggested_actions=(
        "stop",
        "restart",
    ),
)
