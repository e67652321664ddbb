"""A request about two things, of which the client may do with one what it asks: that is done, the other refused."""

import pytest

from broker.common.errors import ErrorCode
from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from broker.protocol.messages.offset_fetch import OffsetFetchRequest
from broker.protocol.schema import Message
from broker.security.operations import ResourceType
from tests.broker.server.authorization.allowed import DENIALS, client_with
from tests.broker.server.authorization.shapes import codes_in, parts_about
from tests.broker.server.authorization.table import LAST_BY_NAME, NEEDS, REFUSALS, request_of

#: Whose requests name topics; those by id name them by something else, and a subscription is refused as a whole.
OF_TOPICS = [
    pytest.param(handler.api, version, id=f"{handler.api.name} {version}")
    for handler in HANDLERS
    if handler.api in NEEDS and any(right[1:] == (ResourceType.TOPIC, "t") for right in NEEDS[handler.api].rights)
    for version in sorted({handler.served[0], min(handler.served[1], LAST_BY_NAME.get(handler.api, 99))})
    if not (handler.api is ApiKey.ADD_PARTITIONS_TO_TXN and version >= 4)
    and handler.api is not ApiKey.CONSUMER_GROUP_HEARTBEAT
]


def both(one: Message, other: Message) -> Message:
    """One request about what both are about."""
    if isinstance(one, OffsetFetchRequest) and one.groups:
        one.groups[0].topics += other.groups[0].topics
        return one
    for field in one.fields:
        if isinstance(getattr(one, field.name), list):
            setattr(one, field.name, getattr(one, field.name) + getattr(other, field.name))
    return one


@pytest.mark.parametrize("forbidden", ["t2", "missing"])
@pytest.mark.parametrize(("api", "version"), OF_TOPICS)
async def test_of_two_topics_one_is_refused_whether_it_is_there_or_not(full, api, version, forbidden):
    full.lead("t2")
    full.tell_of("t2")
    client = await client_with(full, NEEDS[api].rights)
    request = both(request_of(api, version, "t"), request_of(api, version, forbidden))
    response = await client.ask(request, version)
    assert {code for part in parts_about("t", response) for code in codes_in(part)}.isdisjoint(REFUSALS)
    refused = [set(codes_in(part)) - {ErrorCode.NONE} for part in parts_about(forbidden, response)]
    assert refused
    assert all(codes == {ErrorCode.TOPIC_AUTHORIZATION_FAILED} for codes in refused)


@pytest.mark.parametrize("version", [0, 3])
async def test_one_topic_that_may_not_be_written_to_keeps_all_others_from_the_transaction(full, version):
    """All or nothing; each partition says whether it was the one that is at fault."""
    api = ApiKey.ADD_PARTITIONS_TO_TXN
    client = await client_with(full, NEEDS[api].rights)
    request = both(request_of(api, version, "t"), request_of(api, version, "other"))
    response = await client.ask(request, version)
    codes = {topic.name: list(codes_in(topic)) for topic in response.results_by_topic_v3_and_below}
    assert codes == {"t": [ErrorCode.OPERATION_NOT_ATTEMPTED], "other": [ErrorCode.TOPIC_AUTHORIZATION_FAILED]}


@pytest.mark.parametrize("topic", ["__consumer_offsets", "__transaction_state"])
async def test_a_producer_cannot_add_an_internal_topic_whatever_its_rights(full, topic):
    client = await full.client()
    request: AddPartitionsToTxnRequest = request_of(ApiKey.ADD_PARTITIONS_TO_TXN, 3, topic)
    response = await client.ask(request, 3)
    assert list(codes_in(response.results_by_topic_v3_and_below)) == [ErrorCode.TOPIC_AUTHORIZATION_FAILED]


@pytest.mark.parametrize(
    "api",
    [ApiKey.DESCRIBE_GROUPS, ApiKey.DELETE_GROUPS, ApiKey.DESCRIBE_TRANSACTIONS, ApiKey.FIND_COORDINATOR],
    ids=lambda api: api.name,
)
async def test_of_two_groups_or_ids_one_is_refused(full, api):
    """Groups g and other, or transactional ids x and other."""
    version = (
        5 if api is ApiKey.DESCRIBE_GROUPS else {ApiKey.DELETE_GROUPS: 2, ApiKey.DESCRIBE_TRANSACTIONS: 0}.get(api, 5)
    )
    right = next(iter(NEEDS[api].rights))
    request = request_of(api, version)
    names = next(
        getattr(request, field.name) for field in request.fields if isinstance(getattr(request, field.name), list)
    )
    names[:] = [right[2], "other"]
    response = await (await client_with(full, [right])).ask(request, version)
    about = {name: [set(codes_in(part)) for part in parts_about(name, response)] for name in names}
    assert about["other"] == [{DENIALS[right[1]]}]
    assert len(about[right[2]]) == 1
    assert about[right[2]][0].isdisjoint(REFUSALS)
