"""Batches as a producer of one's own would send them: what they unpack to is up to the test."""

import time
from collections.abc import Iterable

from broker.client.cluster import Cluster, parse_bootstrap_servers
from broker.client.leaders import Leaders
from broker.common.types import TopicPartition
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.batch import Compression
from broker.records.builder import build_batch
from broker.records.record import Record


def append_batch(bootstrap_servers: str, topic: str, values: Iterable[bytes], compression: Compression) -> None:
    """Produce `values` as one batch to partition 0; acknowledged when this returns."""
    now_ms = int(time.time() * 1000)
    batch = build_batch([Record(0, now_ms, None, value) for value in values], compression=compression)
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=bytes(batch))])
    request = ProduceRequest(transactional_id=None, acks=-1, timeout_ms=20_000, topic_data=[data])
    with Cluster(parse_bootstrap_servers(bootstrap_servers), timeout_s=30) as cluster:
        answer = Leaders(cluster).connection(TopicPartition(topic, 0)).ask(request)
    assert answer.responses[0].partition_responses[0].error_code == 0
