"""Tells of whole topics in the status topic: which are not copied and why, whose copies differ, which are nobody's now.

A topic that a mirror has left would look as if nobody copied it. So what has been said of it is taken back, one look
later: by then the tasks that copied it have ended.
"""

import time
from collections.abc import Callable, Collection, Mapping

from confluent_kafka import Producer

from broker.client.cluster import ClusterConnections
from broker.client.read_to_end import read_to_end
from broker.client.record_reader import LeftOutBatch
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.mirror.status import STATUS_TOPIC, WHOLE_TOPIC, MirrorStatus, topic_status, understood, written

_log = logger("broker.mirror")
_FLUSH_S = 30.0


class TopicStatusWriter:
    """Topic teller of one flow. `client`: settings of confluent-kafka for the target, which `connect` makes a client of
    ours for.
    """

    def __init__(self, flow: str, client: Mapping[str, object], connect: Callable[[], ClusterConnections]):
        self._flow, self._connect = flow, connect
        self._producer = Producer(dict(client))
        #: Of what is said that is not taken back; None before it was read.
        self._written: set[TopicPartition] | None = None
        #: Who copied them may speak of them once more.
        self._left: set[TopicPartition] = set()

    def tell(
        self,
        copies: Mapping[str, str],
        assigned: Collection[TopicPartition],
        errors: Mapping[str, str],
        notices: Mapping[str, str],
    ) -> None:
        """Store the state. `copies`: topic → its copy's name, of all that are chosen. Raises KafkaException, and as
        `said_of`.
        """
        if self._written is None:
            with self._connect() as cluster:
                self._written = said_of(self._flow, cluster)
        now_ms = int(time.time() * 1000)
        troubled = {TopicPartition(topic, WHOLE_TOPIC) for topic in errors.keys() | notices.keys()}
        for partition in troubled:
            topic = partition.topic
            self._write(partition, topic_status(copies[topic], errors.get(topic), notices.get(topic), now_ms))
        self._written |= troubled.union(assigned)
        gone = self._written - troubled - set(assigned)
        # Nobody but this one speaks of whole topics; of others whoever copied them until now might once more.
        for partition in {
            partition for partition in gone if partition in self._left or partition.partition == WHOLE_TOPIC
        }:
            self._write(partition, None)
            self._written.discard(partition)
        self._left = gone & self._written
        self._producer.flush(_FLUSH_S)

    def _write(self, partition: TopicPartition, status: MirrorStatus | None) -> None:
        key, value = written(self._flow, partition, status)
        self._producer.produce(STATUS_TOPIC, value, key)


def said_of(flow: str, cluster: ClusterConnections) -> set[TopicPartition]:
    """Return partitions of which the state topic has an entry. Raises ApiError, BrokerUnreachable, TimeoutError."""
    partitions: set[TopicPartition] = set()
    for run in read_to_end(cluster, [TopicPartition(STATUS_TOPIC, 0)], _pass_over):
        for _, _, key, value, _ in run.records:
            document = understood(key, value)
            if document is not None and document[0] == flow:
                (partitions.add if document[2] is not None else partitions.discard)(document[1])
    return partitions


def _pass_over(batch: LeftOutBatch) -> None:
    """Skip a batch that cannot be read: no mirror has written it."""
    _log.warning(
        "batch skipped", partition=str(batch.partition), first=batch.first, last=batch.last, reason=batch.reason
    )
