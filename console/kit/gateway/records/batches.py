"""How records were sent together: the headers of some batches. What is inside of them is not unpacked."""

from collections.abc import Mapping

from broker.client.cluster import ClusterConnections
from broker.protocol.messages.fetch import PartitionData
from broker.records.batch import COMPRESSION_BITS, Compression, iterate_headers
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.cluster_session import cluster_session
from console.kit.gateway.groups.unread import fetched
from console.kit.gateway.records.interface import BatchView

BYTES_PER_PARTITION = 256 * 1024
PARTITIONS_MAX = 16
_NOT_SERVED = "This cluster does not serve a Fetch that the console knows."
_CODECS = {int(compression): compression.name.lower() for compression in Compression}


def ask_batches(
    client: ClusterClient, topic: str, starts: Mapping[int, int], timeout_seconds: float
) -> list[BatchView]:
    """Return the batches of the first PARTITIONS_MAX partitions. Raises GatewayError."""
    wanted = dict(sorted(starts.items())[:PARTITIONS_MAX])
    if not wanted:
        return []
    with cluster_session(client, timeout_seconds, _NOT_SERVED) as cluster:
        return _ask(cluster, topic, wanted)


def _ask(cluster: ClusterConnections, topic: str, starts: Mapping[int, int]) -> list[BatchView]:
    answers = fetched(cluster, topic, starts, BYTES_PER_PARTITION)
    return [batch for answer in answers for batch in batches_in(answer, starts[answer.partition_index])]


def batches_in(data: PartitionData, start: int) -> list[BatchView]:
    """Return the batches that end at `start` or later, without markers."""
    if data.error_code:
        return []
    return [
        BatchView(
            partition=data.partition_index,
            base_offset=header.base_offset,
            records=header.records_count,
            size_bytes=header.size_bytes,
            compression=_CODECS.get(header.attributes & COMPRESSION_BITS, "unknown"),
            is_transactional=header.is_transactional,
        )
        for _, header in iterate_headers(data.records or b"")
        if header.last_offset >= start and not header.is_control
    ]
