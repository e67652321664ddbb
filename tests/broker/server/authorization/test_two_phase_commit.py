"""Who may have transactions that never time out, and which brokers serve that (KIP-939)."""

import pytest

from broker.common.errors import ErrorCode
from broker.config.broker import read_broker_config
from broker.handlers.init_producer_id import HANDLER
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.security.operations import AclOperation
from tests.broker.server.authorization.allowed import client_with, on_transaction
from tests.broker.server.conftest import INTRODUCTION

WRITE, TWO_PHASE_COMMIT = on_transaction(AclOperation.WRITE), on_transaction(AclOperation.TWO_PHASE_COMMIT)


@pytest.mark.parametrize(
    ("rights", "expected"),
    [
        ({WRITE, TWO_PHASE_COMMIT}, ErrorCode.NONE),
        ({WRITE}, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        ({TWO_PHASE_COMMIT}, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    ],
)
async def test_two_phase_commit_is_a_right_of_its_own(full, rights, expected):
    client = await client_with(full, rights)
    request = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=0, enable2_pc=True)
    assert (await client.ask(request, 6)).error_code == expected


@pytest.mark.parametrize(("setting", "last"), [("", 5), ("transaction.two.phase.commit.enable=true", 6)])
def test_the_version_that_asks_for_it_is_served_where_it_is_enabled(setting, last):
    config = read_broker_config(f"broker.id=1\nzookeeper.connect=unused:1\n{setting}\n")
    assert [HANDLER.serves(version, config) for version in (5, 6, 7)] == [True, last == 6, False]


async def test_clients_hear_of_the_version_where_it_is_served(full):
    client = await full.client()
    (served,) = (key for key in (await client.ask(INTRODUCTION, 4)).api_keys if key.api_key == ApiKey.INIT_PRODUCER_ID)
    assert (served.min_version, served.max_version) == (0, 6)
