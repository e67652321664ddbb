"""A broker with one of each: topic t, group g, transactional id x."""

import pytest

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.broker.server.authorization.table import request_of
from tests.broker.server.conftest import Served
from tests.broker.server.test_every_version import TOPIC_IDS


async def fill(served: Served) -> None:
    for topic, topic_id in TOPIC_IDS.items():
        served.lead(topic, topic_id=topic_id)
        served.tell_of(topic, topic_id=topic_id)
    client = await served.client()
    await client.ask(request_of(ApiKey.OFFSET_COMMIT, 5), 5)
    init = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=1000)
    assert not (await client.ask(init, 4)).error_code


@pytest.fixture
async def full(served: Served) -> Served:
    await fill(served)
    return served
