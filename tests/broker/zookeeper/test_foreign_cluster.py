"""Whose cluster a chroot holds, by what real brokers left there."""

import asyncio

import pytest

from broker.common.cluster import BrokerEndpoint, BrokerRegistration
from broker.common.errors import StartupError
from broker.zookeeper import znodes
from broker.zookeeper.cluster_secret import ensure_secret
from broker.zookeeper.foreign_cluster import ChrootFindings, look_into, refusal_of, refuse_foreign_cluster
from tests.broker.zookeeper import kafka_znodes

CONNECT = "zk:2181/kafka"
OWN = BrokerRegistration(1, (BrokerEndpoint("PLAINTEXT", "127.0.0.1", 9092),))
#: As brokers of ours wrote it that do not mark their registrations.
UNMARKED = (
    b'{"version":5,"host":"127.0.0.1","port":9092,"jmx_port":-1,"timestamp":"1700000000000",'
    b'"endpoints":["PLAINTEXT://127.0.0.1:9092"],"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
    b'"features":{}}'
)
#: Of Kafka 2.0 and of 0.9, by the order in which their maps give their fields.
OLDER_KAFKAS = (
    b'{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://h:9092"],"jmx_port":-1,'
    b'"host":"h","timestamp":"1","port":9092,"version":4}',
    b'{"jmx_port":-1,"timestamp":"1","endpoints":["PLAINTEXT://h:9092"],"host":"h","version":2,"port":9092}',
)


async def refusal(session, *, may_join=False) -> str:
    with pytest.raises(StartupError) as refused:
        await refuse_foreign_cluster(session, CONNECT, may_join=may_join)
    assert refused.value.exit_status == 78
    return str(refused.value)


def test_registrations_of_this_kind_are_told_from_those_of_any_kafka():
    marked = znodes.encode_broker(OWN, 5)
    for data, is_foreign in [
        (marked, False),
        (UNMARKED, False),
        (kafka_znodes.BROKER_11, True),
        *((older, True) for older in OLDER_KAFKAS),
    ]:
        assert znodes.decode_broker(1, data, 7).registration.is_foreign == is_foreign, data


async def test_an_empty_chroot_is_free(session):
    assert not (await look_into(session)).is_foreign
    await refuse_foreign_cluster(session, CONNECT, may_join=False)


async def test_users_that_are_made_before_the_first_broker_starts_make_no_cluster(session):
    """As kafka-configs of Kafka 2 does with SCRAM users."""
    for path in ("/config/users/admin", "/config/changes", "/brokers/topics", "/admin"):
        await session.ensure(path)
    await refuse_foreign_cluster(session, CONNECT, may_join=False)


async def test_a_running_kafka_is_refused_whatever_is_set(session, new_session):
    kafka = await new_session()
    await kafka_znodes.write(kafka, is_running=True)
    text = await refusal(session)
    assert "cluster id ERd26dhWQDaH-fj551lXuQ, broker 11 registered, 0 topics" in text
    assert "a chroot of its own, zookeeper.connect=zk:2181/barnabas" in text
    assert "stop those brokers" in await refusal(session, may_join=True)


async def test_a_kafka_that_is_stopped_is_refused_until_it_is_to_be_taken_over(session):
    await kafka_znodes.write(session, is_running=False)
    assert "no broker registered now" in await refusal(session)
    await refuse_foreign_cluster(session, CONNECT, may_join=True)


async def test_each_trace_of_a_cluster_counts_alone():
    for trace in ({"cluster_id": "x"}, {"foreign_brokers": [3]}, {"topic_count": 1}, {"had_controller": True}):
        assert refusal_of(ChrootFindings(**trace), CONNECT, may_join=False)
        assert refusal_of(ChrootFindings(**trace, has_secret=True), CONNECT, may_join=False) is None
        assert refusal_of(ChrootFindings(**trace, own_brokers=[1]), CONNECT, may_join=False) is None


async def test_a_cluster_of_ours_starts_again_with_kafka_brokers_in_it_too(session, new_session):
    """It was here before them: what the others do is their operator's to end."""
    await ensure_secret(session)
    await kafka_znodes.write(await new_session(), is_running=True)
    await refuse_foreign_cluster(session, CONNECT, may_join=False)


@pytest.mark.parametrize("registration", [UNMARKED, znodes.encode_broker(OWN, 5)])
async def test_a_lost_secret_keeps_no_broker_from_a_cluster_whose_brokers_are_ours(session, new_session, registration):
    await kafka_znodes.write(session, is_running=False)
    await (await new_session()).create("/brokers/ids/1", registration, ephemeral=True)
    await refuse_foreign_cluster(session, CONNECT, may_join=False)


async def test_brokers_of_ours_that_start_at_once_in_an_empty_chroot_do_not_take_one_another_for_kafka(new_session):
    """The secret is made first and read last."""

    async def start(session):
        await refuse_foreign_cluster(session, CONNECT, may_join=False)
        await ensure_secret(session)
        await session.ensure(znodes.CLUSTER_ID.rpartition("/")[0])
        await session.ensure(znodes.BROKER_IDS)
        await session.ensure(f"{znodes.TOPICS}/t")

    sessions = [await new_session() for _ in range(8)]
    await asyncio.gather(*map(start, sessions))


def test_many_brokers_are_counted_and_not_listed():
    text = refusal_of(ChrootFindings(foreign_brokers=range(20)), CONNECT, may_join=False)
    assert "brokers 0, 1, 2, 3, 4 and 15 more registered" in text


async def test_brokers_of_another_kafka_are_no_brokers_of_this_cluster(store, new_session):
    await (await new_session()).create("/brokers/ids/11", kafka_znodes.BROKER_11, ephemeral=True)
    await store.register_broker(OWN)
    assert list(await store.brokers()) == [1]
    assert store.foreign_brokers == {11}
    assert await store.broker(11) is None
    assert (await store.broker(1)).broker_id == 1
