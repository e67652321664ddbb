"""Declares stream jobs on Spark."""

import re

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
    SidebarEntry,
    Tab,
)
from console.kit.features.hook import Hook
from console.kit.features.table import FeatureTable, columns_of
from console.kit.features.verbs import ObjectKind, Verb
from console.kit.live import groups

#: A process's name, which is safe in a group's.
_STREAM_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")


def stream_group(name: str) -> str:
    """Return the channel group of one stream job's page, which gets what the job's driver reports."""
    return f"stream.{name}"


def group_of_stream(name: str) -> str | None:
    """Return the group of the stream job's page; None for a name that no process can have."""
    return stream_group(name) if _STREAM_NAME.fullmatch(name) else None


_STREAMS = PagePlace("Stream jobs", "streams", "spark", resource=Resource.PROCESS)

FEATURE = Feature(
    package="console.ecosystem.streams",
    database=Database.CLUSTER,
    addresses=(RouteModule("streams/", "console.ecosystem.streams.urls"),),
    links=(
        PageLink(
            "Stream jobs",
            "streams",
            entry=SidebarEntry.CONNECTORS,
            resource=Resource.PROCESS,
            needs=("runs_processes",),
            after="connectors",
        ),
    ),
    places=(_STREAMS,),
    commands=(PagePlace("Add a stream job", "stream-choose", "new spark", right=Right.ADMINISTER),),
    verbs=(
        Verb(
            "Start stream job {name} over",
            ObjectKind.PROCESS,
            "stream-reset",
            "reset checkpoint",
            Right.OPERATE,
            process_kind="stream",
            button="Reset checkpoint…",
        ),
        Verb(
            "Remove stream job {name}",
            ObjectKind.PROCESS,
            "stream-remove",
            "delete",
            Right.ADMINISTER,
            process_kind="stream",
            button="Remove stream job…",
            is_deletion=True,
        ),
    ),
    tabs=(
        Tab("overview", "stream", Right.VIEW, of="stream", shown="Overview"),
        Tab("charts", "stream-charts", Right.VIEW, of="stream", shown="Charts"),
    ),
    headers=(
        ObjectHeader("stream", ObjectKind.PROCESS, "console.ecosystem.streams.header.facts", "Stream jobs", "streams"),
    ),
    pushed_pages=(
        PushedPage("streams", (groups.STREAMS,)),
        PushedPage("stream", (groups.processes, groups.CHARTS), of_name=group_of_stream),
    ),
    reads=(
        ApiRead("streams", "streams", "Stream jobs and their pace", after="processes"),
        ApiRead(
            "streams/{name}/charts", "stream-charts", "What is charted of a stream job", after="processes/{name}/charts"
        ),
    ),
    actions=(
        ApiAction(
            "reset-stream",
            "stream-reset",
            "Reset a stream job's checkpoint",
            path=("name",),
            query=("to",),
            after="change-ensemble",
        ),
        ApiAction("remove-stream", "stream-remove", "Remove a stream job and its checkpoint", path=("name",)),
        ApiAction("add-stream", "stream-add", "Add a stream job", path=("job",), form=("name", "*")),
    ),
    forms=(FormsOf("stream", ("stream-start",)),),
    hooks=(Hook("console.cluster.charts.readings.SOURCES", "console.ecosystem.streams.charted.readings"),),
    tables=(
        FeatureTable(
            _STREAMS,
            columns_of("Stream job, State, Pace, Arrives, Processed, Lag, Batch, Watermark"),
        ),
    ),
)
