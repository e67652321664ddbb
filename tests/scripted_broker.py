"""A peer that speaks the control plane's part of the protocol and answers what the test says."""

import asyncio
from collections.abc import Callable

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import decode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from broker.protocol.messages.stop_replica import StopReplicaPartitionError, StopReplicaResponse
from broker.protocol.messages.update_metadata import UpdateMetadataResponse
from broker.protocol.schema import Message
from tests.members import Doorkeeper
from tests.response_headers import encode_response_header


class ScriptedBroker:
    """Listens on 127.0.0.1:`port`, keeps every request in `received`; use as an async context manager.

    Hosts what it is told to host: `leads` is the leader epoch of each partition it leads.
    """

    def __init__(self, broker_id: int = 1, answer: Callable[[Message], Message] | None = None):
        self.broker_id = broker_id
        self.received: list[Message] = []
        self.connections = 0
        self.leads: dict[TopicPartition, int] = {}
        self.metadata: dict[TopicPartition, int] = {}
        self.isrs: dict[TopicPartition, list[int]] = {}
        self.storage_errors: set[TopicPartition] = set()
        #: Roles it cannot take just now.
        self.wants: set[TopicPartition] = set()
        self._answer = answer or self._follow
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> "ScriptedBroker":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._server.close()
        self.drop_connections()

    def drop_connections(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def requests(self, api: ApiKey) -> list[Message]:
        return [request for request in self.received if request.api is api]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        doorkeeper = Doorkeeper()
        try:
            while True:
                frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
                header, at = decode_request_header(frame)
                request = decode(MESSAGES[header.api_key].request, memoryview(frame)[at:], header.api_version)
                response = doorkeeper.answer(request) or self._follow_script(request)
                head = encode_response_header(header.api_key, header.api_version, header.correlation_id)
                body = encode(response, header.api_version)
                writer.write((len(head) + len(body)).to_bytes(4) + head + body)
        except (OSError, asyncio.IncompleteReadError):
            self._writers.discard(writer)

    def _follow_script(self, request: Message) -> Message:
        self.received.append(request)
        return self._answer(request)

    def _follow(self, request: Message) -> Message:
        match request.api:
            case ApiKey.LEADER_AND_ISR:
                return LeaderAndIsrResponse(topics=[self._take_roles(topic) for topic in request.topic_states])
            case ApiKey.STOP_REPLICA:
                return StopReplicaResponse(partition_errors=list(self._stop(request)))
            case _:
                for topic in request.topic_states:
                    for state in topic.partition_states:
                        partition = TopicPartition(topic.topic_name, state.partition_index)
                        self.metadata[partition], self.isrs[partition] = state.leader, state.isr
                return UpdateMetadataResponse()

    def _take_roles(self, topic) -> LeaderAndIsrTopicError:
        errors = []
        for state in topic.partition_states:
            partition = TopicPartition(topic.topic_name, state.partition_index)
            code = ErrorCode.REPLICA_NOT_AVAILABLE if partition in self.wants else ErrorCode.NONE
            if partition in self.storage_errors:
                code = ErrorCode.KAFKA_STORAGE_ERROR
            errors.append(LeaderAndIsrPartitionError(partition_index=partition.partition, error_code=code))
            if state.leader == self.broker_id and not code:
                self.leads[partition] = state.leader_epoch
            else:
                self.leads.pop(partition, None)
        return LeaderAndIsrTopicError(topic_id=topic.topic_id, partition_errors=errors)

    def _stop(self, request):
        for topic in request.topic_states:
            for state in topic.partition_states:
                self.leads.pop(TopicPartition(topic.topic_name, state.partition_index), None)
                yield StopReplicaPartitionError(topic_name=topic.topic_name, partition_index=state.partition_index)
