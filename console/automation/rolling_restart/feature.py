"""Declares the rolling restart of all brokers."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.features.api import ApiAction
from console.kit.features.declaration import Database, Feature, FormsOf, RouteModule, SameAction

FEATURE = Feature(
    package="console.automation.rolling_restart",
    database=Database.CLUSTER,
    addresses=(RouteModule("processes/+rolling-restart/", "console.automation.rolling_restart.urls"),),
    commands=(
        PagePlace("Restart all brokers", "rolling-restart", "rolling", resource=Resource.PROCESS, after="drills"),
    ),
    actions=(
        ApiAction("rolling-restart", "rolling-restart", "Restart all brokers one after the other", after="begin-drill"),
    ),
    forms=(
        FormsOf(
            "rolling-restart",
            ("rolling-restart-call-off", "rolling-restart-pause", "rolling-restart-resume"),
            is_one_for_all=True,
        ),
    ),
    always_open=("rolling-restart-pause",),
    same_actions=(SameAction("resume rolling restart", ("begin rolling restart",)),),
    suggested_actions=("begin rolling restart",),
)
