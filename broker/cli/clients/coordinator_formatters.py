"""Records of __consumer_offsets and __transaction_state as kafka-console-consumer prints them. Pure.

Names of Kafka up to 3.8 print what Scala's toString said; those of `org.apache.kafka.tools.consumer` print JSON.
"""

from collections.abc import Callable, Iterable

from broker.cli.clients.consumed import ConsumedRecord, Formatter
from broker.cli.logs.coordinator_records import DELETE, Shown, offsets_record, transaction_record
from broker.common.errors import InvariantViolation
from broker.coordinator.group import records as group_records
from broker.coordinator.group.records import CommittedOffset, GroupKey, GroupMetadata, MemberMetadata, OffsetKey
from broker.coordinator.transaction import records as transaction_records


def coordinator_formatter(class_name: str) -> Formatter | None:
    """Return None for a class that is none of these."""
    wanted = _BY_CLASS.get(class_name)
    if wanted is None:
        return None

    def shown(records: Iterable[ConsumedRecord]) -> bytes:
        return "".join(_line(record, wanted) for record in records).encode()

    return shown


def _line(record: ConsumedRecord, shape: Callable[[bytes, bytes | None], str]) -> str:
    """Return the line of a record; empty for a record of another kind, or a malformed one."""
    try:
        return shape(record.key() or b"", record.value())
    except InvariantViolation:
        return ""


def _offsets(key_bytes: bytes, value: bytes | None) -> str:
    key = group_records.decode_key(key_bytes)
    if not isinstance(key, OffsetKey):
        return ""
    shown = "NULL" if value is None else _offset_text(group_records.decode_offset_value(value))
    return f"[{key.group_id},{key.partition.topic},{key.partition.partition}]::{shown}\n"


def _offset_text(value: CommittedOffset) -> str:
    epoch = "Optional.empty" if value.leader_epoch < 0 else f"Optional[{value.leader_epoch}]"
    expires = "None" if value.expire_timestamp_ms < 0 else f"Some({value.expire_timestamp_ms})"
    return (
        f"OffsetAndMetadata(offset={value.offset}, leaderEpoch={epoch}, metadata={value.metadata}, "
        f"commitTimestamp={value.commit_timestamp_ms}, expireTimestamp={expires})"
    )


def _groups(key_bytes: bytes, value: bytes | None) -> str:
    key = group_records.decode_key(key_bytes)
    if not isinstance(key, GroupKey):
        return ""
    shown = "NULL" if value is None else _group_text(key.group_id, group_records.decode_group_value(value))
    return f"{key.group_id}::{shown}\n"


def _group_text(group_id: str, group: GroupMetadata) -> str:
    members = ", ".join(f"{member.member_id} -> {_member_text(group, member)}" for member in group.members)
    return (
        f"GroupMetadata(groupId={group_id}, generation={group.generation_id}, "
        f"protocolType={_some(group.protocol_type)}, currentState={'Stable' if group.members else 'Empty'}, "
        f"members=Map({members}))"
    )


def _member_text(group: GroupMetadata, member: MemberMetadata) -> str:
    return (
        f"MemberMetadata(memberId={member.member_id}, groupInstanceId={_some(member.group_instance_id)}, "
        f"clientId={member.client_id}, clientHost={member.client_host}, sessionTimeoutMs={member.session_timeout_ms}, "
        f"rebalanceTimeoutMs={member.rebalance_timeout_ms}, supportedProtocols=List({group.protocol_name or ''}))"
    )


def _some(text: str | None) -> str:
    return f"Some({text})" if text else "None"


def _transactions(key: bytes, value: bytes | None) -> str:
    name = transaction_records.decode_key(key)
    if name is None:
        return ""
    if value is None:
        return f"{name}::NULL\n"
    transaction = transaction_records.decode_value(name, value)
    partitions = ", ".join(f"{topic}-{number}" for topic, number in sorted(transaction.partitions))
    return (
        f"{name}::TransactionMetadata(transactionalId={name}, producerId={transaction.producer_id}, "
        f"producerEpoch={transaction.producer_epoch}, txnTimeoutMs={transaction.timeout_ms}, "
        f"state={transaction.state.label}, pendingState=None, "
        f"topicPartitions=Set({partitions}), "
        f"txnStartTimestamp={transaction.started_ms}, txnLastUpdateTimestamp={transaction.updated_ms})\n"
    )


def _offsets_json(key: bytes, value: bytes | None) -> str:
    return _json(offsets_record(key, value)) if isinstance(group_records.decode_key(key), OffsetKey) else ""


def _groups_json(key: bytes, value: bytes | None) -> str:
    return _json(offsets_record(key, value)) if isinstance(group_records.decode_key(key), GroupKey) else ""


def _transactions_json(key: bytes, value: bytes | None) -> str:
    return _json(transaction_record(key, value)) if transaction_records.decode_key(key) is not None else ""


def _json(shown: Shown) -> str:
    key, value = shown
    return f'{{"key":{key},"value":{"null" if value == DELETE else value}}}\n'


_BY_CLASS = {
    "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter": _offsets,
    "kafka.coordinator.GroupMetadataManager$OffsetsMessageFormatter": _offsets,
    "kafka.server.OffsetManager$OffsetsMessageFormatter": _offsets,
    "kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter": _groups,
    "kafka.coordinator.GroupMetadataManager$GroupMetadataMessageFormatter": _groups,
    "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter": _transactions,
    "org.apache.kafka.tools.consumer.OffsetsMessageFormatter": _offsets_json,
    "org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter": _groups_json,
    "org.apache.kafka.tools.consumer.TransactionLogMessageFormatter": _transactions_json,
}
