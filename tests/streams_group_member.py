"""A member of a streams group (KIP-1071) that a test is itself. Its heartbeats are written by kio.

It runs no topology: it takes the tasks that it is given.
"""

import io
import socket
import struct
import uuid
from datetime import timedelta
from typing import Any

from kio.schema.streams_group_heartbeat.v0 import request as sent
from kio.schema.streams_group_heartbeat.v0.response import StreamsGroupHeartbeatResponse
from kio.serial import entity_reader, entity_writer

from tests.barnabas_cluster import await_true

_API, _VERSION = 88, 0
#: Epochs of a member that joins, and of one that leaves.
_JOINS, _LEAVES = 0, -1


class StreamsGroupMember:
    """Of an application that reads `topic` in one sub-topology, and keeps its state in a changelog topic."""

    def __init__(self, bootstrap_servers: str, group: str, topic: str):
        host, _, port = bootstrap_servers.partition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=10)
        self._group, self._id, self._epoch = group, str(uuid.uuid4()), _JOINS
        changelog = sent.TopicInfo(name=f"{group}-changelog", partitions=0, replication_factor=1, topic_configs=())
        part = sent.Subtopology(
            subtopology_id="0",
            source_topics=(topic,),
            state_changelog_topics=(changelog,),
            repartition_source_topics=(),
            copartition_groups=(),
        )
        self._topology = sent.Topology(epoch=0, subtopologies=(part,))
        self._held: tuple[sent.TaskIds, ...] = ()

    def join(self) -> None:
        """Return once tasks are assigned and taken."""
        self._beat(topology=self._topology)
        await_true(lambda: bool(self._beat() and self._held), "the streams group assigns tasks", 60)
        self._beat()

    def leave(self) -> None:
        self._epoch = _LEAVES
        self._beat()
        self._socket.close()

    def _beat(self, topology: sent.Topology | None = None) -> bool:
        is_first = topology is not None
        response = self._ask(
            sent.StreamsGroupHeartbeatRequest(
                group_id=self._group,
                member_id=self._id,
                member_epoch=self._epoch,
                endpoint_information_epoch=0,
                rebalance_timeout=timedelta(seconds=60) if is_first else timedelta(milliseconds=-1),
                topology=topology,
                active_tasks=self._held,
                standby_tasks=(),
                warmup_tasks=(),
                process_id="a process" if is_first else None,
                client_tags=() if is_first else None,
                task_offsets=None,
                task_end_offsets=None,
            )
        )
        assert not response.error_code, response
        self._epoch = response.member_epoch
        if response.active_tasks is not None:
            self._held = tuple(
                sent.TaskIds(subtopology_id=task.subtopology_id, partitions=task.partitions)
                for task in response.active_tasks
            )
        return True

    def _ask(self, request: sent.StreamsGroupHeartbeatRequest) -> Any:
        body = io.BytesIO()
        entity_writer(type(request))(body, request)
        header = struct.pack(">hhih", _API, _VERSION, 1, 4) + b"test" + b"\0"
        frame = header + body.getvalue()
        self._socket.sendall(struct.pack(">i", len(frame)) + frame)
        (size,) = struct.unpack(">i", self._receive(4))
        answer = self._receive(size)
        return entity_reader(StreamsGroupHeartbeatResponse)(answer, 5)[0]

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            assert piece, "the broker closed the connection"
            data += piece
        return data
