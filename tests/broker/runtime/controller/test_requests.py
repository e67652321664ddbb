"""What a controller makes of brokers' answers to its requests."""

from uuid import UUID

import pytest

from broker.common.cluster import BrokerRegistration, LeaderAndIsr, LiveBroker
from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.controller.effects import PartitionTold, SendLeaderAndIsr
from broker.protocol.codec import decode, encode
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from broker.runtime.controller.requests import LEADER_AND_ISR_VERSION, leader_and_isr_answered

T_0, T_1, TOPIC_ID = TopicPartition("t", 0), TopicPartition("t", 1), UUID(int=1)


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (ErrorCode.NONE, "taken"),
        (ErrorCode.KAFKA_STORAGE_ERROR, "failed"),
        (ErrorCode.REPLICA_NOT_AVAILABLE, "deferred"),
        (ErrorCode.UNKNOWN_SERVER_ERROR, "deferred"),
        (ErrorCode.INCONSISTENT_TOPIC_ID, "deferred"),
        (ErrorCode.STALE_CONTROLLER_EPOCH, "none of these"),
    ],
)
def test_a_role_that_is_refused_is_told_again_unless_that_is_in_vain(code, outcome):
    tolds = [PartitionTold(item, TOPIC_ID, LeaderAndIsr(1, 0, (1,), 1), (1,)) for item in (T_0, T_1)]
    errors = [
        LeaderAndIsrPartitionError(partition_index=index, error_code=item) for index, item in enumerate((code, 0))
    ]
    response = LeaderAndIsrResponse(topics=[LeaderAndIsrTopicError(topic_id=TOPIC_ID, partition_errors=errors)])
    broker = LiveBroker(BrokerRegistration(1, ()), epoch=1)
    answered = leader_and_isr_answered(broker, SendLeaderAndIsr(1, 1, tuple(tolds), ()), response)
    assert [name for name in ("taken", "failed", "deferred") if T_0 in getattr(answered, name)] == (
        [outcome] if outcome != "none of these" else []
    )
    assert T_1 in answered.taken


def test_a_role_in_a_full_log_directory_counts_as_taken_and_full_and_a_refused_one_as_neither():
    tolds = [PartitionTold(item, TOPIC_ID, LeaderAndIsr(1, 0, (1,), 1), (1,)) for item in (T_0, T_1)]
    errors = [
        LeaderAndIsrPartitionError(partition_index=0, error_code=ErrorCode.NONE, is_full=True),
        LeaderAndIsrPartitionError(partition_index=1, error_code=ErrorCode.STALE_CONTROLLER_EPOCH, is_full=True),
    ]
    response = LeaderAndIsrResponse(topics=[LeaderAndIsrTopicError(topic_id=TOPIC_ID, partition_errors=errors)])
    received = decode(LeaderAndIsrResponse, encode(response, LEADER_AND_ISR_VERSION), LEADER_AND_ISR_VERSION)
    broker = LiveBroker(BrokerRegistration(1, ()), epoch=1)
    answered = leader_and_isr_answered(broker, SendLeaderAndIsr(1, 1, tuple(tolds), ()), received)
    assert (answered.taken, answered.full) == ({T_0}, {T_0})


def test_a_broker_without_its_log_has_no_record_and_one_of_an_earlier_version_tells_nothing():
    tolds = [PartitionTold(item, TOPIC_ID, LeaderAndIsr(1, 0, (1,), 1), (1,)) for item in (T_0, T_1)]
    code = ErrorCode.REPLICA_NOT_AVAILABLE
    errors = [
        LeaderAndIsrPartitionError(partition_index=0, error_code=code, log_end_offset=0),
        LeaderAndIsrPartitionError(partition_index=1, error_code=code),
    ]
    response = LeaderAndIsrResponse(topics=[LeaderAndIsrTopicError(topic_id=TOPIC_ID, partition_errors=errors)])
    received = decode(LeaderAndIsrResponse, encode(response, LEADER_AND_ISR_VERSION), LEADER_AND_ISR_VERSION)
    broker = LiveBroker(BrokerRegistration(1, ()), epoch=1)
    answered = leader_and_isr_answered(broker, SendLeaderAndIsr(1, 1, tuple(tolds), ()), received)
    assert (answered.taken, answered.deferred, answered.extents) == (set(), {T_0, T_1}, {T_0: (-1, 0)})
