"""What the brokers say of a group and of transactions, for whoever has waited for them in vain."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from broker.common.errors import ErrorCode
from broker.protocol.messages.describe_groups import DescribeGroupsRequest
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest, TransactionState
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.barnabas_cluster import await_true
from tests.faults.matrix.stage import Stage
from tests.faults.matrix.wire import WireClient

_GROUPS_VERSION, _OFFSETS_VERSION = 5, 8


def await_coordinated(condition: Callable[[], object], what: str, within_s: float, stage: Stage, group: str) -> None:
    """As `await_true`; when it was in vain, what the coordinators know of the group and of transactions is told."""
    try:
        await_true(condition, what, within_s)
    except AssertionError as error:
        raise AssertionError("\n".join([str(error), *coordination(stage, group)])) from None


def coordination(stage: Stage, group: str) -> list[str]:
    """A line for each thing a broker knows; one that does not answer says so."""
    collected = []
    for broker in stage.cluster.brokers:
        try:
            with WireClient(broker.port) as client:
                lines = [*_of_group(client, group), *_of_transactions(client)]
        except OSError as error:
            lines = [f"does not answer: {error}"]
        collected += [f"  broker {broker.broker_id}: {item}" for item in lines]
    return collected


def _of_group(client: WireClient, group: str) -> Iterator[str]:
    (described,) = client.ask(DescribeGroupsRequest(groups=[group]), _GROUPS_VERSION).groups
    if described.error_code == ErrorCode.NOT_COORDINATOR:
        return
    code = f" ({ErrorCode(described.error_code).name})" if described.error_code else ""
    members = ", ".join(member.member_id for member in described.members)
    yield f"group {group} is {described.group_state}{code}, of {members or 'nobody'}"
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=None)], require_stable=True)
    (fetched,) = client.ask(request, _OFFSETS_VERSION).groups
    for topic in fetched.topics:
        for partition in topic.partitions:
            offset = ErrorCode(partition.error_code).name if partition.error_code else partition.committed_offset
            yield f"offset of {topic.name}-{partition.partition_index}: {offset}"


def _of_transactions(client: WireClient) -> Iterator[str]:
    listed = client.ask(ListTransactionsRequest(), 0)
    if listed.error_code:
        yield f"transactions: {ErrorCode(listed.error_code).name}"
    names = [state.transactional_id for state in listed.transaction_states]
    if names:
        for state in client.ask(DescribeTransactionsRequest(transactional_ids=names), 0).transaction_states:
            yield f"transaction {state.transactional_id} is {state.transaction_state}{_since(state)}"


def _since(state: TransactionState) -> str:
    if state.transaction_start_time_ms < 0:
        return ""
    began = datetime.fromtimestamp(state.transaction_start_time_ms / 1000, UTC)
    covered = [f"{topic.topic}-{index}" for topic in state.topics for index in topic.partitions]
    return f" since {began:%H:%M:%S.%f}, in {', '.join(covered)}"
