import json

from broker.cli.clients.record_formatters import formatter
from broker.common.types import TopicPartition
from broker.coordinator.group import records as of_groups
from broker.coordinator.transaction import records as of_transactions
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import Transaction
from tests.broker.cli.consumed import Consumed

MANAGER = "kafka.coordinator.group.GroupMetadataManager$"
TOOLS = "org.apache.kafka.tools.consumer."
OFFSET = Consumed(
    of_groups.encode_offset_value(of_groups.CommittedOffset(13, 4, "", 1000)),
    of_groups.encode_offset_key(of_groups.OffsetKey("g", TopicPartition("t", 2))),
)
MEMBER = of_groups.MemberMetadata("m", None, "c", "/127.0.0.1", 300_000, 45_000, b"", b"")
GROUP = Consumed(
    of_groups.encode_group_value(of_groups.GroupMetadata("consumer", 3, "range", "m", 1000, (MEMBER,))),
    of_groups.encode_group_key("g"),
)
TRANSACTION = Consumed(
    of_transactions.encode_value(
        Transaction("x", 14, 0, 60_000, TransactionPhase.ONGOING, frozenset({TopicPartition("t", 0)}), 2000, 1000)
    ),
    of_transactions.encode_key("x"),
)
#: None of ours: another version.
STRANGE = Consumed(b"\0\1", b"\0\x63")


def shown(name, *records):
    made, _warning = formatter(name, {})
    return made(records).decode()


def test_committed_offsets_as_scala_wrote_them():
    name = f"{MANAGER}OffsetsMessageFormatter"
    assert shown(name, OFFSET, GROUP, STRANGE) == (
        "[g,t,2]::OffsetAndMetadata(offset=13, leaderEpoch=Optional[4], metadata=, commitTimestamp=1000, "
        "expireTimestamp=None)\n"
    )
    assert shown(name, Consumed(None, OFFSET.key_)) == "[g,t,2]::NULL\n"
    assert shown("kafka.server.OffsetManager$OffsetsMessageFormatter", OFFSET) == shown(name, OFFSET)


def test_groups_and_transactions_as_scala_wrote_them():
    assert shown(f"{MANAGER}GroupMetadataMessageFormatter", OFFSET, GROUP) == (
        "g::GroupMetadata(groupId=g, generation=3, protocolType=Some(consumer), currentState=Stable, members=Map("
        "m -> MemberMetadata(memberId=m, groupInstanceId=None, clientId=c, clientHost=/127.0.0.1, "
        "sessionTimeoutMs=45000, rebalanceTimeoutMs=300000, supportedProtocols=List(range))))\n"
    )
    assert shown("kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter", TRANSACTION) == (
        "x::TransactionMetadata(transactionalId=x, producerId=14, producerEpoch=0, txnTimeoutMs=60000, state=Ongoing, "
        "pendingState=None, topicPartitions=Set(t-0), txnStartTimestamp=1000, txnLastUpdateTimestamp=2000)\n"
    )


def test_todays_names_print_json():
    assert json.loads(shown(f"{TOOLS}OffsetsMessageFormatter", OFFSET)) == {
        "key": {"type": "1", "data": {"group": "g", "topic": "t", "partition": 2}},
        "value": {
            "version": "3",
            "data": {"offset": 13, "leaderEpoch": 4, "metadata": "", "commitTimestamp": 1000},
        },
    }
    assert json.loads(shown(f"{TOOLS}GroupMetadataMessageFormatter", GROUP))["value"]["data"]["generation"] == 3
    tombstone = shown(f"{TOOLS}TransactionLogMessageFormatter", Consumed(None, TRANSACTION.key_))
    assert json.loads(tombstone) == {"key": {"type": "0", "data": {"transactionalId": "x"}}, "value": None}
