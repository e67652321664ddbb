"""Partitions of a topic as one broker serves them, whatever batches a test lays out."""

from broker.client.offsets import LATEST
from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from broker.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from broker.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from broker.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from broker.records.batch import Compression, iterate_headers, patch_batch
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.scripted_broker import ScriptedBroker


class ServedLogs:
    """Partitions of the topic `t` as one broker serves them."""

    def __init__(self, *partitions: list[bytearray], without_leader: int | None = None, refused: int | None = None):
        self.without_leader, self.refused = without_leader, refused
        self._partitions = [self._placed(batches) for batches in partitions]
        self.broker = ScriptedBroker(answer=self._answer)

    @staticmethod
    def _placed(batches: list[bytearray]) -> bytes:
        end, data = 0, bytearray()
        for batch in batches:
            placed = bytearray(batch)
            patch_batch(placed, 0, end, 0)
            ((_, header),) = iterate_headers(placed)
            end = header.next_offset
            data += placed
        return bytes(data)

    def _answer(self, request):
        if request.api is ApiKey.API_VERSIONS:
            served = [ApiVersion(api_key=api, max_version=12) for api in (ApiKey.METADATA, ApiKey.FETCH)]
            served.append(ApiVersion(api_key=ApiKey.LIST_OFFSETS, max_version=7))
            return ApiVersionsResponse(api_keys=served)
        if request.api is ApiKey.METADATA:
            partitions = [
                MetadataResponsePartition(partition_index=number, leader_id=-1 if number == self.without_leader else 1)
                for number in range(len(self._partitions))
            ]
            brokers = [MetadataResponseBroker(node_id=1, host="127.0.0.1", port=self.broker.port)]
            return MetadataResponse(brokers=brokers, topics=[MetadataResponseTopic(name="t", partitions=partitions)])
        if request.api is ApiKey.LIST_OFFSETS:
            wanted = [(partition.partition_index, partition.timestamp) for partition in request.topics[0].partitions]
            offsets = [
                ListOffsetsPartitionResponse(partition_index=number, offset=self._end(number) if at == LATEST else 0)
                for number, at in wanted
            ]
            return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=offsets)])
        answered = [
            self._from(partition.partition, partition.fetch_offset) for partition in request.topics[0].partitions
        ]
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=answered)])

    def _from(self, number: int, offset: int) -> PartitionData:
        """Everything from the batch on that holds the offset."""
        if number == self.refused:
            return PartitionData(partition_index=number, error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        data = self._partitions[number]
        at = next((at for at, header in iterate_headers(data) if header.last_offset >= offset), len(data))
        return PartitionData(partition_index=number, high_watermark=0, records=data[at:])

    def _end(self, number: int) -> int:
        return max((header.next_offset for _, header in iterate_headers(self._partitions[number])), default=0)


def values(*sizes: int, compression: Compression = Compression.ZSTD) -> bytearray:
    return build_batch([Record(0, 1_000, None, bytes(size)) for size in sizes], compression=compression)
