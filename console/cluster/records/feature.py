"""Declares the records of a topic."""

from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import Feature, FormsOf, RouteModule, Socket, Tab
from console.kit.features.hook import Hook
from console.kit.features.verbs import ObjectKind, PartitionIn, Verb

FEATURE = Feature(
    package="console.cluster.records",
    addresses=(RouteModule("topics/", "console.cluster.records.urls"),),
    tabs=(
        Tab(
            "records",
            "topic-records",
            Right.RECORDS,
            words="messages",
            shown="Messages",
            why_not="This needs the role reader: you see topics, not what is in their records.",
            after="topic",
        ),
    ),
    verbs=(
        Verb(
            "Produce a record to {name}",
            ObjectKind.TOPIC,
            "topic-records",
            "write append message",
            fragment="produce",
            button="Produce a record…",
        ),
        Verb(
            "Export messages of {name}",
            ObjectKind.TOPIC,
            "topic-records",
            "download save file range",
            Right.RECORDS,
            fixed=(("last", "5m"),),
            fragment="export",
            button="Export messages…",
        ),
        Verb(
            "{name} › records of partition {partition}",
            ObjectKind.TOPIC,
            "topic-records",
            "messages",
            Right.RECORDS,
            partition_in=PartitionIn.QUERY,
        ),
    ),
    reads=(
        ApiRead(
            "topics/{name}/records",
            "topic-records",
            "Records of a topic, as on its page: `place` (newest, oldest, offset, time), `partition`, `offset`, "
            "`moment`, `until`, `last` (5m, 15m, 1h or 24h), `search`, `searched` (any, key, value, header, cel)",
            scope="records",
            after="topics/{name}/history",
        ),
    ),
    actions=(
        ApiAction(
            "copy-record",
            "topic-record-copy",
            "Append a record once more, to its topic or another",
            path=("name", "partition", "offset"),
            form=("to", "to_partition"),
        ),
        ApiAction(
            "produce-tombstone",
            "topic-record-tombstone",
            "Append a tombstone for the key of a record",
            path=("name", "partition", "offset"),
        ),
    ),
    forms=(FormsOf("topic-records", ("topic-produce",)),),
    hooks=(
        Hook("console.processes.access.HIDES", "console.cluster.records.masked_source.hides_of"),
        Hook("console.cluster.records.origins.ORIGINS", "console.cluster.records.origins.origins_of_streams"),
    ),
    sockets=(Socket("ws/records/", "console.cluster.records.socket.RecordsConsumer"),),
)
