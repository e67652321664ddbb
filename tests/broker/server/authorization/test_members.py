"""Members need no rights, and who has rights is no member: the few APIs that both may ask."""

import pytest

from broker.common.errors import ErrorCode
from broker.handlers import (
    describe_client_traffic,
    describe_requests,
    leader_and_isr,
    preview_retention,
    write_txn_markers,
)
from broker.protocol.api_keys import ApiKey
from broker.security.operations import AclOperation
from broker.security.rights import UNLIMITED
from broker.security.session import ANONYMOUS, Session
from tests.broker.server.authorization.allowed import Allowed, client_with, on_cluster, on_topic
from tests.broker.server.authorization.shapes import refusals_in
from tests.broker.server.authorization.table import request_of
from tests.members import MEMBERSHIP

ALLOWED = {
    write_txn_markers.HANDLER: on_cluster(AclOperation.ALTER),
    describe_requests.HANDLER: on_cluster(AclOperation.DESCRIBE),
    describe_client_traffic.HANDLER: on_cluster(AclOperation.DESCRIBE),
    preview_retention.HANDLER: on_topic(AclOperation.ALTER_CONFIGS),
}


def session(rights=UNLIMITED, principal: str = "User:alice") -> Session:
    return Session("127.0.0.1", "PLAINTEXT", principal, rights)


async def test_who_logs_in_as_a_member_has_all_rights_from_then_on(full):
    client = await client_with(full, [])
    request = request_of(ApiKey.LIST_OFFSETS, 5)
    assert refusals_in(await client.ask(request, 5)) == {ErrorCode.TOPIC_AUTHORIZATION_FAILED}
    await client.log_in(MEMBERSHIP.dial("127.0.0.1", full.listener.port))
    assert not refusals_in(await client.ask(request, 5))


@pytest.mark.parametrize(("handler", "right"), ALLOWED.items(), ids=lambda name: getattr(name, "api", None))
def test_others_are_admitted_by_a_right_or_where_nobody_s_are_limited_by_a_name(handler, right):
    assert handler.admits(session(Allowed([right])))
    assert handler.admits(session(Allowed([right]), ANONYMOUS))
    assert not handler.admits(session(Allowed()))
    assert handler.admits(session())


@pytest.mark.parametrize("handler", ALLOWED, ids=lambda handler: handler.api.name)
def test_a_stranger_is_admitted_nowhere_though_nothing_limits_it(handler):
    assert not handler.admits(session(principal=ANONYMOUS))


def test_what_is_between_brokers_admits_nobody_else():
    everything = Allowed([on_cluster(operation) for operation in AclOperation])
    assert not leader_and_isr.HANDLER.admits(session(everything))
    assert not leader_and_isr.HANDLER.admits(session())
