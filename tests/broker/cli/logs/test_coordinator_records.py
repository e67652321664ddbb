"""Records of coordinators as Kafka's tools show them."""

from broker.cli.logs.coordinator_records import offsets_record, transaction_record
from broker.common.types import TopicPartition
from broker.coordinator.group.records import (
    CommittedOffset,
    GroupMetadata,
    MemberMetadata,
    OffsetKey,
    encode_group_key,
    encode_group_value,
    encode_offset_key,
    encode_offset_value,
)
from broker.coordinator.transaction.records import encode_key, encode_value
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import Transaction


def test_a_committed_offset_and_its_tombstone():
    key = encode_offset_key(OffsetKey("g", TopicPartition("t", 0)))
    shown = '{"type":"1","data":{"group":"g","topic":"t","partition":0}}'
    assert offsets_record(key, encode_offset_value(CommittedOffset(13, 0, "", 99))) == (
        shown,
        '{"version":"3","data":{"offset":13,"leaderEpoch":0,"metadata":"","commitTimestamp":99}}',
    )
    assert offsets_record(key, encode_offset_value(CommittedOffset(13, -1, "m", 99, 100)))[1] == (
        '{"version":"1","data":{"offset":13,"metadata":"m","commitTimestamp":99,"expireTimestamp":100}}'
    )
    assert offsets_record(key, None) == (shown, "<DELETE>")


def test_a_generation_of_a_group():
    member = MemberMetadata("m-1", None, "c", "/127.0.0.1", 300, 45, b"\0", b"\1")
    value = encode_group_value(GroupMetadata("consumer", 3, "range", "m-1", 7, (member,)))
    assert offsets_record(encode_group_key("g"), value) == (
        '{"type":"2","data":{"group":"g"}}',
        '{"version":"3","data":{"protocolType":"consumer","generation":3,"protocol":"range","leader":"m-1",'
        '"currentStateTimestamp":7,"members":[{"memberId":"m-1","groupInstanceId":null,"clientId":"c",'
        '"clientHost":"/127.0.0.1","rebalanceTimeout":300,"sessionTimeout":45,"subscription":"AA==",'
        '"assignment":"AQ=="}]}}',
    )


def test_a_transaction_and_its_partitions_are_told_by_topic():
    transaction = Transaction(
        "tx", 5, 1, 60_000, TransactionPhase.ONGOING, frozenset([TopicPartition("t", 1), TopicPartition("t", 0)]), 9, 8
    )
    assert transaction_record(encode_key("tx"), encode_value(transaction)) == (
        '{"type":"0","data":{"transactionalId":"tx"}}',
        '{"version":"0","data":{"producerId":5,"producerEpoch":1,"transactionTimeoutMs":60000,"transactionStatus":1,'
        '"transactionPartitions":[{"topic":"t","partitionIds":[0,1]}],"transactionLastUpdateTimestampMs":9,'
        '"transactionStartTimestampMs":8}}',
    )


def test_what_is_not_known_here_is_said_to_be_unknown():
    unknown = '{"type":"8","data":"unknown"}', '{"version":"0","data":"unknown"}'
    assert offsets_record(b"\0\x08rest", b"\0\0rest") == unknown
    assert transaction_record(b"\0\x08rest", b"\0\0rest") == unknown
    assert offsets_record(encode_group_key("g"), b"\0\x03")[1] == '{"version":"3","data":"unknown"}'
    assert offsets_record(None, b"v") == (None, None)
