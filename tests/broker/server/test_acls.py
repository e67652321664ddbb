"""DescribeAcls, CreateAcls and DeleteAcls over the wire: who is refused, and what cannot be a rule."""

import asyncio
from dataclasses import replace

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.handlers import acl_request
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from broker.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from broker.protocol.messages.describe_acls import DescribeAclsRequest
from broker.protocol.messages.describe_requests import DescribeRequestsRequest
from broker.runtime.security.authorizer import Authorizer
from broker.security.acls.model import AclEntry, Binding, Pattern, Permission
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType
from broker.security.session import ANONYMOUS, Session
from broker.server.dispatcher import Dispatcher
from broker.server.metrics import RequestMetrics, new_registry
from broker.zookeeper.session import ZooKeeperSession
from tests.manual_clock import ManualClock

TOPIC, CLUSTER = ResourceType.TOPIC, ResourceType.CLUSTER
#: The rest of a filter that matches everything.
ANY = {
    "resource_name_filter": None,
    "principal_filter": None,
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}
LITERAL, PREFIXED, MATCH = 3, 4, 2


def creation(**fields):
    return AclCreation(
        **{
            "resource_type": 2,
            "resource_name": "t",
            "principal": "User:a",
            "host": "*",
            "operation": 3,
            "permission_type": 3,
            **fields,
        }
    )


def describe(**fields):
    return DescribeAclsRequest(**{"resource_type_filter": 1, "pattern_type_filter": 1, **ANY, **fields})


def deletion(**fields):
    return DeleteAclsFilter(**{"resource_type_filter": 1, "pattern_type_filter": 1, **ANY, **fields})


@pytest.fixture
async def authorizer(served, zookeeper, tmp_path):
    """Of `served`, whose clients are ANONYMOUS; nobody may do anything yet."""
    session = ZooKeeperSession(f"127.0.0.1:{zookeeper.port}/{tmp_path.name}", 4_000)
    await session.connect(10_000)
    authorizer = Authorizer(session, (), ManualClock())
    await authorizer.start()
    services = replace(served.services, authorizer=authorizer, rights_of=authorizer.rights_of)
    dispatcher = Dispatcher(services, RequestMetrics(new_registry()))
    served.listener._on_frame = dispatcher.on_frame
    served.listener.new_session = lambda host, name: Session(
        host, name, ANONYMOUS, authorizer.rights_of(ANONYMOUS, host)
    )
    yield authorizer
    authorizer.stop()
    await session.close()


async def permit(authorizer, operation):
    entry = AclEntry(ANONYMOUS, "127.0.0.1", operation, Permission.ALLOW)
    assert await authorizer.create([Binding(Pattern(CLUSTER, CLUSTER_NAME), entry)]) == {}


async def test_without_an_authorizer_all_three_say_so(served):
    client = await served.client()
    refusal = (ErrorCode.SECURITY_DISABLED, "No Authorizer is configured on the broker")
    for version in range(4):
        answer = await client.ask(describe(pattern_type_filter=LITERAL), version)
        assert (answer.error_code, answer.error_message) == refusal
        created = await client.ask(CreateAclsRequest(creations=[creation(), creation()]), version)
        assert [(result.error_code, result.error_message) for result in created.results] == [refusal] * 2
        deleted = await client.ask(DeleteAclsRequest(filters=[deletion(pattern_type_filter=LITERAL)]), version)
        assert [(result.error_code, result.error_message) for result in deleted.filter_results] == [refusal]


async def test_who_may_not_is_refused_entry_by_entry(served, authorizer):
    client = await served.client()
    denied = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert (await client.ask(describe(), 3)).error_code == denied
    created = await client.ask(CreateAclsRequest(creations=[creation(), creation(resource_name="")]), 3)
    assert [result.error_code for result in created.results] == [denied] * 2
    deleted = await client.ask(DeleteAclsRequest(filters=[deletion()]), 3)
    assert [result.error_code for result in deleted.filter_results] == [denied]
    await permit(authorizer, AclOperation.DESCRIBE)
    assert (await client.ask(describe(), 3)).error_code == 0
    created = await client.ask(CreateAclsRequest(creations=[creation()]), 3)
    assert [result.error_code for result in created.results] == [denied]


async def test_what_can_be_no_rule_is_refused_and_the_others_are_kept(served, authorizer):
    await permit(authorizer, AclOperation.ALTER)
    client = await served.client()
    bad = [
        creation(resource_type=4, resource_name="cluster"),
        creation(resource_name=""),
        creation(resource_name="a/b"),
        creation(resource_name=".."),
        creation(resource_name="a\x07"),
        creation(resource_type=1),
        creation(resource_pattern_type=1),
        creation(resource_pattern_type=MATCH),
        creation(operation=1),
        creation(permission_type=1),
    ]
    good = [creation(resource_pattern_type=PREFIXED), creation(resource_type=4, resource_name=CLUSTER_NAME)]
    answer = await client.ask(CreateAclsRequest(creations=[good[0], *bad, good[1]]), 3)
    assert [result.error_code for result in answer.results] == [0, *[ErrorCode.INVALID_REQUEST] * len(bad), 0]
    assert answer.results[1].error_message == "The only valid name for the CLUSTER resource is kafka-cluster"
    response = await client.ask(describe(principal_filter="User:a"), 3)
    assert sorted(
        (resource.resource_type, resource.resource_name, resource.pattern_type) for resource in response.resources
    ) == [
        (2, "t", PREFIXED),
        (4, CLUSTER_NAME, LITERAL),
    ]


@pytest.mark.parametrize(
    "request_",
    [
        CreateAclsRequest(creations=[creation(operation=0)]),
        CreateAclsRequest(creations=[creation(resource_type=99)]),
        CreateAclsRequest(creations=[creation(permission_type=0)]),
        CreateAclsRequest(creations=[creation(resource_pattern_type=0)]),
        describe(resource_type_filter=0),
        describe(operation=-3),
        DeleteAclsRequest(filters=[deletion(pattern_type_filter=9)]),
        DeleteAclsRequest(filters=[deletion(permission_type=0)]),
    ],
    ids=lambda request: type(request).__name__,
)
async def test_a_number_that_means_nothing_is_refused_or_matches_no_rule(served, authorizer, request_):
    await permit(authorizer, AclOperation.ALTER)
    await permit(authorizer, AclOperation.DESCRIBE)
    answer = await (await served.client()).ask(request_, 3)
    if request_.api is ApiKey.DESCRIBE_ACLS:
        assert (answer.error_code, answer.resources) == (0, [])
        return
    (result,) = answer.results if request_.api is ApiKey.CREATE_ACLS else answer.filter_results
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert result.error_message.startswith(("Invalid ", "Unknown "))


async def test_version_0_knows_literal_names_only(served, authorizer):
    await permit(authorizer, AclOperation.ALL)
    client = await served.client()
    both = [creation(), creation(resource_pattern_type=PREFIXED)]
    await client.ask(CreateAclsRequest(creations=both), 3)
    response = await client.ask(describe(resource_type_filter=2, pattern_type_filter=LITERAL), 0)
    assert len(response.resources) == 1
    deleted = await client.ask(
        DeleteAclsRequest(filters=[deletion(resource_type_filter=2, pattern_type_filter=LITERAL)]), 0
    )
    assert [len(result.matching_acls) for result in deleted.filter_results] == [1]
    (left,) = (await client.ask(describe(resource_type_filter=2), 3)).resources
    assert left.pattern_type == PREFIXED


async def test_a_member_may_do_everything_once_it_has_proved_itself(served, authorizer):
    member = await served.member()
    assert (await member.ask(describe(), 3)).error_code == 0


async def test_a_member_is_told_who_was_denied_what(served, authorizer):
    await (await served.client()).ask(describe(), 3)
    member = await served.member()
    (denial,) = (await member.ask(DescribeRequestsRequest(), 3)).denials
    assert (denial.principal, denial.count, denial.last_principal) == (ANONYMOUS, 1, ANONYMOUS)
    assert (denial.last_host, denial.last_operation, denial.last_resource_type, denial.last_resource_name) == (
        "127.0.0.1",
        AclOperation.DESCRIBE,
        CLUSTER,
        CLUSTER_NAME,
    )
    assert denial.last_at_ms == authorizer.log.latest[ANONYMOUS].at_ms
    assert (await member.ask(DescribeRequestsRequest(), 2)).denials == []


@pytest.fixture
def slices(monkeypatch):
    """How many hosts of rules are read in each pass of the loop."""
    slices, java_host = [0], acl_request.java_host

    def counted(text):
        if not slices[-1]:
            asyncio.get_running_loop().call_soon(slices.append, 0)
        slices[-1] += 1
        return java_host(text)

    monkeypatch.setattr(acl_request, "java_host", counted)
    return slices


@pytest.mark.parametrize(
    "request_",
    [
        CreateAclsRequest(creations=[creation(resource_name="", host=f"10.0.0.{n}") for n in range(1_000)]),
        DeleteAclsRequest(filters=[deletion(resource_type_filter=0, host_filter=f"10.0.0.{n}") for n in range(1_000)]),
    ],
    ids=["create", "delete"],
)
async def test_others_have_their_turn_while_thousands_of_rules_are_read(served, authorizer, slices, request_):
    """A megabyte of them took the loop half a second of CPU, also from a client that may not ask."""
    client = await served.client()
    await client.ask(request_, 3)
    assert sum(slices) == 0
    await permit(authorizer, AclOperation.ALTER)
    await client.ask(request_, 3)
    assert sum(slices) == 1_000
    assert max(slices) <= THINGS_IN_A_TURN
