"""Records of coordinators as Kafka's tools show them."""

from uuid import UUID

from broker.cli.logs.coordinator_records import dumped_offsets_record, offsets_record, transaction_record
from broker.common.types import TopicPartition
from broker.coordinator.consumer_group.member import MemberSubscription
from broker.coordinator.consumer_group.records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupKey,
    CurrentMemberValue,
    CurrentTopicPartitions,
    GroupEpochValue,
    PatternValue,
    TargetEpochValue,
)
from broker.coordinator.consumer_group.records import encode_key as encode_consumer_key
from broker.coordinator.consumer_group.records import encode_value as encode_consumer_value
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


def test_dump_shows_what_members_subscribe_to_and_are_assigned():
    subscription = b"\0\3\0\0\0\1\0\1t\xff\xff\xff\xff\0\0\0\1\0\1t\0\0\0\1\0\0\0\2\0\0\0\7\xff\xff"
    assignment = b"\0\0\0\0\0\1\0\1t\0\0\0\1\0\0\0\2\0\0\0\1u"
    member = MemberMetadata("m-1", None, "c", "/h", 300, 45, subscription, assignment)
    value = encode_group_value(GroupMetadata("consumer", 3, "range", "m-1", 7, (member,)))
    assert (
        '"subscription":{"topics":["t"],"userData":null,"ownedPartitions":[{"topic":"t","partitions":[2]}],'
        '"generationId":7,"rackId":null},'
        '"assignment":{"assignedPartitions":[{"topic":"t","partitions":[2]}],"userData":"dQ=="}'
    ) in dumped_offsets_record(encode_group_key("g"), value)[1]
    other = encode_group_value(GroupMetadata("connect", 3, "range", "m-1", 7, (member,)))
    assert dumped_offsets_record(encode_group_key("g"), other) == offsets_record(encode_group_key("g"), other)


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


def test_records_of_consumer_groups():
    topic_id = UUID("12345678-1234-5678-1234-567812345678")
    owned = CurrentTopicPartitions(topic_id=topic_id, partitions=[0, 1], assignment_epochs=[3, 4])
    classic = ClassicMemberMetadata(
        session_timeout_ms=9, supported_protocols=[ClassicProtocol(name="range", metadata=b"\0")]
    )
    member = MemberSubscription(client_id="c", client_host="/h", topic_names=frozenset("t")).to_value()
    member.classic_member_metadata = classic
    records = {
        (3, ""): (GroupEpochValue(epoch=4), '{"groupId":"g"}', '{"epoch":4}'),
        (5, "m"): (
            member,
            '{"groupId":"g","memberId":"m"}',
            '{"instanceId":null,"rackId":null,"clientId":"c","clientHost":"/h","subscribedTopicNames":["t"],'
            '"subscribedTopicRegex":null,"rebalanceTimeoutMs":-1,"serverAssignor":null,"classicMemberMetadata":'
            '{"sessionTimeoutMs":9,"supportedProtocols":[{"name":"range","metadata":"AA=="}]}}',
        ),
        (6, ""): (
            TargetEpochValue(assignment_epoch=4, assignment_timestamp=7),
            '{"groupId":"g"}',
            '{"assignmentEpoch":4,"assignmentTimestamp":7}',
        ),
        (8, "m"): (
            CurrentMemberValue(
                member_epoch=4, previous_member_epoch=3, assigned_partitions=[owned], partitions_pending_revocation=[]
            ),
            '{"groupId":"g","memberId":"m"}',
            '{"memberEpoch":4,"previousMemberEpoch":3,"state":0,"assignedPartitions":[{"topicId":'
            '"EjRWeBI0VngSNFZ4EjRWeA","partitions":[0,1],"assignmentEpochs":[3,4]}],"partitionsPendingRevocation":[]}',
        ),
        (16, "t.*"): (
            PatternValue(topics=["t"], version=2, timestamp=3),
            '{"groupId":"g","regularExpression":"t.*"}',
            '{"topics":["t"],"version":2,"timestamp":3}',
        ),
    }
    for (kind, name), (value, key, shown) in records.items():
        encoded = encode_consumer_key(ConsumerGroupKey(kind, "g", name)), encode_consumer_value(value)
        assert offsets_record(*encoded) == (
            f'{{"type":"{kind}","data":{key}}}',
            f'{{"version":"0","data":{shown}}}',
        )
        assert offsets_record(encoded[0], None)[1] == "<DELETE>"


def test_what_is_not_known_here_is_said_to_be_unknown():
    unknown = '{"type":"8","data":"unknown"}', '{"version":"0","data":"unknown"}'
    assert offsets_record(b"\0\x08rest", b"\0\0rest") == unknown
    assert transaction_record(b"\0\x08rest", b"\0\0rest") == unknown
    assert offsets_record(encode_group_key("g"), b"\0\x03")[1] == '{"version":"3","data":"unknown"}'
    assert offsets_record(None, b"v") == (None, None)
