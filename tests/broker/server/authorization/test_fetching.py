"""Fetch: a right counts at each look, whenever its session began, and not for what is only waited for."""

from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.log.cold_parts import ColdReadError
from broker.protocol.messages.api_versions import ApiVersionsRequest
from broker.protocol.messages.fetch import ReplicaState
from broker.security.operations import AclOperation
from broker.security.session import Session
from tests.broker.server.authorization.allowed import Allowed, client_with, on_cluster, on_topic
from tests.broker.server.test_bad_input import batch_of, produce
from tests.broker.server.test_fetch import fetch, lead, of, partitions, topic
from tests.eventually import eventually

READ = on_topic(AclOperation.READ)
TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED


async def write(served, index: int = 0) -> None:
    await (await served.client()).ask(produce(batch_of(b"x"), index=index), 9)


def partitions_of(answer) -> list[tuple[int, int, bool]]:
    return [
        (partition.partition_index, partition.error_code, bool(partition.records)) for partition in partitions(answer)
    ]


@pytest.mark.parametrize("version", [7, 12, 13, 17])
async def test_a_session_from_before_a_right_was_taken_and_given_again(served, version):
    """It hears of it as of any error: each time while it lasts, and once when it is over, though nothing moved."""
    lead(served, 2)
    await write(served)
    rights = Allowed([READ])
    client = await client_with(served, rights)
    opened = await client.ask(fetch(topic(of(0), of(1)), session=(0, 0)), version)
    assert partitions_of(opened) == [(0, 0, True), (1, 0, False)]
    rights.rights.clear()
    for epoch in (1, 2):
        refused = await client.ask(fetch(session=(opened.session_id, epoch)), version)
        assert (refused.error_code, refused.session_id) == (ErrorCode.NONE, opened.session_id)
        assert sorted(partitions_of(refused)) == [(0, TOPIC, False), (1, TOPIC, False)]
    rights.rights.add(READ)
    back = await client.ask(fetch(session=(opened.session_id, 3)), version)
    assert sorted(partitions_of(back)) == [(0, 0, True), (1, 0, False)]
    assert rights.denied == [READ] * 2


async def test_a_session_belongs_to_its_id_and_its_records_to_who_may_read_them(served):
    lead(served)
    await write(served)
    opened = await (await client_with(served, [READ])).ask(fetch(topic(of()), session=(0, 0)), 12)
    other = await client_with(served, [])
    assert partitions_of(await other.ask(fetch(session=(opened.session_id, 1)), 12)) == [(0, TOPIC, False)]


async def test_a_session_is_its_principals_whoever_else_guesses_its_id(served):
    """What it refused would name its topics, and its own client would have to begin again."""
    lead(served)
    clients = {}
    for name in ("alice", "bob"):
        served.listener.new_session = lambda host, listener, name=name: Session(
            host, listener, principal=f"User:{name}", rights=Allowed([READ])
        )
        clients[name] = await served.client()
        await clients[name].ask(ApiVersionsRequest(), 0)
    opened = await clients["alice"].ask(fetch(topic(of()), session=(0, 0)), 12)
    guessed = await clients["bob"].ask(fetch(session=(opened.session_id, 1)), 12)
    assert (guessed.error_code, partitions_of(guessed)) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])
    own = await clients["alice"].ask(fetch(session=(opened.session_id, 1)), 12)
    assert own.error_code == ErrorCode.NONE


async def test_a_right_that_is_taken_while_a_fetch_waits_counts_when_records_come(served):
    lead(served, 2)
    rights = Allowed([READ])
    client = await client_with(served, rights)
    await client.send_request(fetch(topic(of(0), of(1)), min_bytes=1, max_wait_ms=60_000), 12)
    await eventually(lambda: len(served.delayed_fetches), "the fetch waits")
    rights.rights.clear()
    await write(served, 1)
    assert (1, TOPIC, False) in partitions_of(await client.answer(fetch().api, 12))


async def test_who_is_refused_does_not_wait(served):
    lead(served)
    client = await client_with(served, [])
    answer = await client.ask(fetch(topic(of()), min_bytes=1, max_wait_ms=60_000), 12)
    assert partitions_of(answer) == [(0, TOPIC, False)]


@pytest.mark.parametrize("at_once", [1, 500])
async def test_a_topic_is_asked_for_once_however_many_partitions_are_read(served, monkeypatch, at_once):
    monkeypatch.setattr("broker.runtime.requests.fetch_work.PARTITIONS_AT_ONCE_MAX", at_once)
    lead(served, 5)
    rights = Allowed()
    client = await client_with(served, rights)
    assert len(partitions_of(await client.ask(fetch(topic(*map(of, range(5)))), 12))) == 5
    assert rights.denied == [READ]


async def test_an_id_that_becomes_known_while_a_disk_is_read_is_not_read_unasked(served, monkeypatch):
    lead(served)
    other_id = UUID(int=5)
    read, has_failed = served.replicas.read, []

    def read_cold_first(*args, **named):
        if not has_failed:
            has_failed.append(True)
            raise ColdReadError(None)
        return read(*args, **named)

    async def learn(_parts):
        served.lead("t2", topic_id=other_id)
        served.tell_of("t2", topic_id=other_id)
        await write(served)

    monkeypatch.setattr(served.replicas, "read", read_cold_first)
    monkeypatch.setattr(served.replicas.logs, "fetch", learn)
    client = await client_with(served, [READ])
    answer = await client.ask(fetch(topic(of()), topic(of(), topic_id=other_id)), 13)
    assert partitions_of(answer) == [(0, ErrorCode.NONE, True), (0, TOPIC, False)]


@pytest.mark.parametrize("version", [12, 17])
async def test_a_replica_s_word_is_a_member_s_and_no_right_makes_one(served, version):
    lead(served)
    client = await client_with(served, [READ, on_cluster(AclOperation.CLUSTER_ACTION)])
    request = fetch(topic(of()))
    if version < 15:
        request.replica_id = 2
    else:
        request.replica_state = ReplicaState(replica_id=2)
    assert partitions_of(await client.ask(request, version)) == [(0, TOPIC, False)]
