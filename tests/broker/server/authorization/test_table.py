"""Each API of the registry, in each version: without rights, with all it needs, and with all but one."""

from uuid import UUID

import pytest

from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import encode
from tests.broker.server.authorization.allowed import DENIALS, Allowed, client_with
from tests.broker.server.authorization.conftest import fill
from tests.broker.server.authorization.shapes import codes_in, refusals_in, shape, without_words
from tests.broker.server.authorization.table import FREE, MEMBERS_ONLY, NEEDS, REFUSALS, request_of

pytestmark = pytest.mark.versions

_HANDLERS = {handler.api: handler for handler in HANDLERS}
ALL = [
    pytest.param(handler.api, version, id=f"{handler.api.name} {version}")
    for handler in HANDLERS
    if handler.api not in (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE)
    for version in range(handler.served[0], handler.served[1] + 1)
]


def _is_for_members(api: ApiKey, version: int) -> bool:
    return _HANDLERS[api].is_for_members(version) and _HANDLERS[api].others_may is None


ASKED = [reading for reading in ALL if reading.values[0] in NEEDS and not _is_for_members(*reading.values)]


def test_every_api_is_in_the_table_once():
    """Whoever adds an API says what may ask it."""
    assert sorted([*FREE, *NEEDS, *MEMBERS_ONLY]) == sorted(_HANDLERS)
    assert all(_is_for_members(api, _HANDLERS[api].served[0]) for api in MEMBERS_ONLY)


@pytest.mark.parametrize(("api", "version"), ALL)
async def test_a_member_is_refused_nothing(full, api, version):
    response = await (await full.member()).ask(request_of(api, version), version)
    assert not refusals_in(response)


@pytest.mark.parametrize(("api", "version"), [reading for reading in ALL if reading.values[0] in FREE])
async def test_who_has_no_right_at_all_is_answered_what_is_free(full, api, version):
    rights = Allowed()
    response = await (await client_with(full, rights)).ask(request_of(api, version), version)
    assert not refusals_in(response)
    assert not rights.denied


@pytest.mark.parametrize(("api", "version"), ASKED)
async def test_who_has_no_right_is_refused_as_the_table_says(full, api, version):
    client = await client_with(full, [])
    response = await client.ask(request_of(api, version), version)
    fields = shape(response)
    expected = NEEDS[api].refusal(version)
    assert {name: fields.get(name) for name in expected} == expected
    assert fields.keys() - expected.keys() <= _TOLD_TO_ALL


@pytest.mark.parametrize(("api", "version"), ASKED)
async def test_who_has_no_right_hears_it_in_words(full, api, version):
    """Clients read the message of an error without asking whether there is one: librdkafka crashes."""
    response = await (await client_with(full, [])).ask(request_of(api, version), version)
    assert not list(without_words(response, version))


@pytest.mark.parametrize(("api", "version"), ALL)
async def test_what_is_not_there_is_told_in_words(served, api, version):
    """No topic exists, no group is coordinated, and somebody else is controller."""
    served.metadata.controller_id = 2
    response = await (await served.member()).ask(request_of(api, version, topic="missing"), version)
    assert not list(without_words(response, version))


#: By Metadata.
_TOLD_TO_ALL = {"brokers", "cluster_id", "controller_id"}


@pytest.mark.parametrize(("api", "version"), ASKED)
async def test_who_has_just_the_rights_that_are_needed_is_not_refused(full, api, version):
    needs = NEEDS[api]
    for rights in (set(needs.rights), *needs.instead):
        response = await (await client_with(full, rights)).ask(request_of(api, version), version)
        assert not refusals_in(response)


@pytest.mark.parametrize(("api", "version"), ASKED)
async def test_who_lacks_one_right_is_refused_for_want_of_it(full, api, version):
    rights = NEEDS[api].rights
    for missing, since in rights.items():
        response = await (await client_with(full, set(rights) - {missing})).ask(request_of(api, version), version)
        expected = DENIALS[missing[1]]
        if version < since:
            assert expected not in refusals_in(response)
        elif len(rights) > 1 or api is not ApiKey.PREVIEW_RETENTION:
            assert refusals_in(response) == {expected}


@pytest.mark.parametrize(("api", "version"), [reading for reading in ALL if _is_for_members(*reading.values)])
async def test_no_right_makes_a_member(full, api, version):
    everything = set().union(*(needs.rights for needs in NEEDS.values()))
    client = await client_with(full, everything)
    assert set(codes_in(await client.ask(request_of(api, version), version))) & REFUSALS


#: What these answer depends on when the same client asked last, and on nothing that there is.
TIMED = {ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY}


@pytest.mark.parametrize(("api", "version"), [reading for reading in ALL if reading.values[0] not in TIMED])
async def test_who_may_see_nothing_cannot_tell_an_empty_cluster_from_a_full_one(served, api, version):
    """By name, that is: that there is a topic with an id is no secret, what its name is may be one."""
    served.tell_of("another", topic_id=UUID(int=1))
    client = await client_with(served, [])
    request = request_of(api, version, topic="t")
    before = encode(await client.ask(request, version), version)
    await fill(served)
    by_id = api in (ApiKey.FETCH, ApiKey.PRODUCE) and version >= 13
    assert (encode(await client.ask(request, version), version) == before) != by_id
