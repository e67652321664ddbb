"""A coordinator is found, followed when it moves, and waited for as long as was said."""

from types import SimpleNamespace

import pytest

from broker.client.coordinators import Coordinators
from broker.client.errors import BrokerUnreachable
from broker.client.transactions import ProducerIdentity, add_partitions, end_transaction
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from broker.protocol.messages.end_txn import EndTxnResponse
from broker.protocol.messages.find_coordinator import FindCoordinatorResponse

WHO = ProducerIdentity("id", 7, 3)


class FakeCluster:
    """The coordinator listens on the ports of `ports`, in turn; `answers` are what it answers."""

    def __init__(self, ports, answers):
        self._ports = list(ports)
        self._answers = list(answers)
        self.ports_asked: list[int] = []
        self.forgotten: list[int] = []

    def ask_any(self, _request, version_max):
        return FindCoordinatorResponse(host="host", port=self._ports.pop(0))

    def connection(self, _host, port, **_how):
        def ask(_request, version_max):
            self.ports_asked.append(port)
            answer = self._answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return SimpleNamespace(ask=ask)

    def forget(self, _host, port):
        self.forgotten.append(port)


def ended(code: ErrorCode = ErrorCode.NONE) -> EndTxnResponse:
    return EndTxnResponse(error_code=code)


def test_coordinator_that_has_moved_is_followed():
    cluster = FakeCluster([1, 2], [ended(ErrorCode.NOT_COORDINATOR), ended()])
    end_transaction(Coordinators(cluster), WHO, commit=True)
    assert (cluster.ports_asked, cluster.forgotten) == ([1, 2], [])


def test_broken_connection_is_made_again():
    cluster = FakeCluster([1, 1], [BrokerUnreachable("gone"), ended()])
    end_transaction(Coordinators(cluster), WHO, commit=True)
    assert cluster.forgotten == [1]


def test_transaction_still_being_completed_is_waited_for_where_it_is():
    cluster = FakeCluster([1], [ended(ErrorCode.CONCURRENT_TRANSACTIONS)] * 3 + [ended()])
    end_transaction(Coordinators(cluster), WHO, commit=True)
    assert cluster.ports_asked == [1] * 4


def test_fenced_producer_is_told_at_once():
    cluster = FakeCluster([1], [ended(ErrorCode.PRODUCER_FENCED)])
    with pytest.raises(ApiError, match="id: A newer producer"):
        end_transaction(Coordinators(cluster), WHO, commit=True)


def test_waiting_ends_with_the_last_error():
    cluster = FakeCluster([1] * 999, [BrokerUnreachable("gone")] * 999)
    with pytest.raises(BrokerUnreachable, match="gone"):
        end_transaction(Coordinators(cluster, timeout_s=0.1), WHO, commit=True)


def test_worst_error_of_several_partitions_counts():
    def added(*codes: ErrorCode) -> AddPartitionsToTxnResponse:
        item = [AddPartitionsToTxnPartitionResult(partition_index=0, partition_error_code=code) for code in codes]
        topic = AddPartitionsToTxnTopicResult(name="t", results_by_partition=item)
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=[topic])

    refused = added(ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    with pytest.raises(ApiError, match="Topic authorization failed"):
        add_partitions(Coordinators(FakeCluster([1], [refused])), WHO, [TopicPartition("t", 0)])
    again = FakeCluster([1], [added(ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NONE), added(ErrorCode.NONE)])
    add_partitions(Coordinators(again), WHO, [TopicPartition("t", 0)])
    assert again.ports_asked == [1, 1]
