"""The fuzzer knows every API, and what it makes up can be sent and is read as it was meant."""

import random

import pytest

from broker.handlers.registry import HANDLERS
from broker.protocol.codec import decode, encode
from broker.protocol.messages import MESSAGES
from tests.examples import examples
from tests.fuzz.frames import APIS, make_frame
from tests.fuzz.values import Pools

OUTSIDE = "/somewhere/outside"


def pools(seed: int) -> Pools:
    return Pools(random.Random(seed), ("t",), OUTSIDE)


def test_every_api_that_is_served_is_made_up():
    assert {handler.api for handler in HANDLERS} <= set(APIS)


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_made_up_requests_are_read_as_they_were_meant(api):
    made = pools(int(api))
    message_class = MESSAGES[api].request
    for version in range(message_class.versions[0], message_class.versions[1] + 1):
        request = made.request(message_class, version)
        assert encode(decode(message_class, encode(request, version), version), version) == encode(request, version)


def test_the_same_seed_sends_the_same_bytes():
    def sent(seed):
        chance = random.Random(seed)
        made = Pools(chance, ("t",), OUTSIDE)
        return [make_frame(api, number, made, chance).data for number, api in enumerate(APIS)]

    assert sent(3) == sent(3)
    assert sent(3) != sent(4)


def test_harmful_names_and_what_brokers_said_come_back():
    made = pools(1)
    answer = MESSAGES[APIS[11]].response(member_id="a-member")
    made.learn(answer)
    member_ids = {made.request(MESSAGES[APIS[11]].request, 5).member_id for _ in range(300)}
    assert "a-member" in member_ids
    assert any(OUTSIDE in item for item in member_ids)


def test_nothing_is_made_up_that_is_far_larger_than_a_frame():
    made = pools(5)
    for api in APIS:
        message_class = MESSAGES[api].request
        for _ in range(examples(60)):
            assert len(encode(made.request(message_class, message_class.versions[1]), message_class.versions[1])) < 64e6
