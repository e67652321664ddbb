"""Offsets of connectors: source offsets from their log, those of sinks from their group (KIP-875)."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from broker.client.groups import GroupClient
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.connect.api import ConnectPartition, SinkConnector, SourceConnector
from broker.connect.herder.errors import BadRequest, Conflict, NotGroupLeader, RequestRefused
from broker.connect.herder.herder import Herder
from broker.connect.herder.validation import connector_class
from broker.connect.storage.records import dump, load
from broker.connect.storage.source_offsets import SourceOffsets, closing

#: As long as a task may take to stop, and the group to hear of it.
_STOPPED_WITHIN_S, _PAUSE_S = 30.0, 0.05
_DIGITS = re.compile(r"\+?[0-9]{1,19}")
_PARTITION_MAX, _OFFSET_MAX = (1 << 31) - 1, (1 << 63) - 1
#: What a group answers that has members.
_STILL_THERE = {
    ErrorCode.NON_EMPTY_GROUP,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
    ErrorCode.REBALANCE_IN_PROGRESS,
}


class ConnectorOffsets:
    def __init__(self, herder: Herder):
        self._herder = herder

    def get(self, name: str) -> dict[str, Any]:
        if self._is_sink(name):
            with self._groups(name) as groups:
                committed = groups.committed(self._group(name))
            pairs = [
                ({"kafka_partition": p.partition, "kafka_topic": p.topic}, {"kafka_offset": o})
                for p, o in sorted(committed.items())
            ]
        else:
            with self._kept(name) as kept:
                kept.catch_up()
                pairs = kept.all()
        return {"offsets": [{"partition": partition, "offset": offset} for partition, offset in pairs]}

    def alter(self, name: str, body: Any) -> dict[str, str]:
        self._require_stopped(name)
        pairs = _pairs(body)
        if self._is_sink(name):
            is_all = self._alter_sink(name, pairs)
        else:
            pairs = [(load(dump(partition)), offset) for partition, offset in pairs]
            self._fence(name)
            is_all = self._source(name).alter_offsets(
                self._herder.resolved(name), {dump(partition).decode(): offset for partition, offset in pairs}
            )
            with self._kept(name) as kept:
                kept.catch_up()
                kept.put(pairs)
        return _done("altered", is_all)

    def reset(self, name: str) -> dict[str, str]:
        self._require_stopped(name)
        if self._is_sink(name):
            is_all = self._sink(name).alter_offsets(self._herder.resolved(name), {})
            with self._groups(name) as groups:
                try:
                    groups.delete(self._group(name))
                except ApiError as error:
                    if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
                        raise _refused(name, error) from None
            return _done("reset", is_all)
        self._fence(name)
        with self._kept(name) as kept:
            kept.catch_up()
            pairs = [(partition, None) for partition, _ in kept.all()]
            is_all = self._source(name).alter_offsets(
                self._herder.resolved(name), {dump(partition).decode(): None for partition, _ in pairs}
            )
            kept.put(pairs)
        return _done("reset", is_all)

    def _fence(self, name: str) -> None:
        """Fence the connector's tasks: no task writes an offset any more, even one that lost its connection before it
        was stopped (KIP-875).

        A task that stops stores its last offsets, perhaps on another worker. Behind what is written here they would
        undo it, so that end is awaited. Raises Conflict when a task does not stop in time.
        """
        deadline_s = time.monotonic() + _STOPPED_WITHIN_S
        # What runs here has stopped when the herder comes to the call.
        self._herder.call(lambda: None)
        while self._herder.group.may_run(name):
            if time.monotonic() >= deadline_s:
                raise Conflict(f"Tasks of connector {name} have not stopped yet; try again")
            time.sleep(_PAUSE_S)
            self._require_stopped(name)
        if self._herder.settings.is_exactly_once:
            self._herder.fencing.ask(name)

    def _kept(self, name: str) -> AbstractContextManager[SourceOffsets]:
        return closing(self._herder.offset_stores.of(name, self._herder.resolved(name)))

    def _alter_sink(self, name: str, pairs: list[tuple[Any, Any]]) -> bool:
        places = {_sink_partition(partition): _sink_offset(offset) for partition, offset in pairs}
        is_all = self._sink(name).alter_offsets(
            self._herder.resolved(name), {ConnectPartition(*place): offset for place, offset in places.items()}
        )
        with self._groups(name) as groups:
            try:
                groups.commit(self._group(name), {p: o for p, o in places.items() if o is not None})
                if gone := [place for place, offset in places.items() if offset is None]:
                    groups.delete_offsets(self._group(name), gone)
            except ApiError as error:
                raise _refused(name, error) from None
        return is_all

    def _require_stopped(self, name: str) -> None:
        herder = self._herder
        herder.require(name)
        if not herder.group.is_leader:
            raise NotGroupLeader(herder.group.leader_url)
        if herder.configurations.target(name) != "STOPPED" or herder.configurations.tasks.get(name):
            raise BadRequest(
                "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for "
                f"the specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
            )

    def _is_sink(self, name: str) -> bool:
        return issubclass(connector_class(self._herder.require(name)), SinkConnector)

    def _source(self, name: str) -> SourceConnector:
        made = connector_class(self._herder.require(name))()
        if not isinstance(made, SourceConnector):
            raise BadRequest(f"Connector {name} is no source")
        return made

    def _sink(self, name: str) -> SinkConnector:
        made = connector_class(self._herder.require(name))()
        if not isinstance(made, SinkConnector):
            raise BadRequest(f"Connector {name} is no sink")
        return made

    def _group(self, name: str) -> str:
        return str(self._herder.settings.consumer(name, 0, self._herder.resolved(name))["group.id"])

    @contextmanager
    def _groups(self, name: str) -> Iterator[GroupClient]:
        with self._herder.settings.cluster(self._herder.resolved(name)) as cluster:
            yield GroupClient(cluster)


def _done(what: str, is_all: bool) -> dict[str, str]:
    if is_all:
        return {"message": f"The offsets for this connector have been {what} successfully"}
    return {
        "message": f"The Connect framework-managed offsets for this connector have been {what} successfully. However, "
        f"if this connector manages offsets externally, they will need to be manually {what} in the system that the "
        "connector uses."
    }


def _pairs(body: Any) -> list[tuple[Any, Any]]:
    listed = body.get("offsets") if isinstance(body, dict) else None
    if not isinstance(listed, list) or not listed:
        raise BadRequest("Partitions / offsets need to be provided for an alter offsets request")
    for value in listed:
        if not isinstance(value, dict) or not isinstance(value.get("partition"), dict):
            raise BadRequest("The partition for a connector offset cannot be null or missing")
        if not isinstance(value.get("offset"), dict | None):
            raise BadRequest("The offset for a connector offset is an object or null")
    return [(item["partition"], item.get("offset")) for item in listed]


def _sink_partition(partition: Mapping[str, Any]) -> TopicPartition:
    try:
        return TopicPartition(str(partition["kafka_topic"]), _number(partition["kafka_partition"], _PARTITION_MAX))
    except (KeyError, ValueError):
        raise BadRequest("The partition of a sink has kafka_topic and kafka_partition") from None


def _sink_offset(offset: Mapping[str, Any] | None) -> int | None:
    if offset is None:
        return None
    try:
        return _number(offset["kafka_offset"], _OFFSET_MAX)
    except (KeyError, ValueError):
        raise BadRequest("The offset of a sink has kafka_offset, a number of at least 0") from None


def _number(value: Any, largest: int) -> int:
    """Parse digits, as text or not. Raises ValueError for anything but 0 to `largest`."""
    if not _DIGITS.fullmatch(str(value)) or int(str(value)) > largest:
        raise ValueError(value)
    return int(str(value))


def _refused(name: str, error: ApiError) -> RequestRefused:
    why = "its tasks may not be fully stopped yet; try again " if error.code in _STILL_THERE else ""
    return RequestRefused(f"Failed to change offsets of connector {name}: {why}({error})")
