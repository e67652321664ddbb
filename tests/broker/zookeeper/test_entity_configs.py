"""What is set for users, client ids and addresses, in a real ZooKeeper: written beside others, gone when empty."""

import asyncio

import pytest

from broker.zookeeper.entity_configs import EntityConfigs
from broker.zookeeper.errors import MalformedZnode, NodeMissing, OperationRefused
from broker.zookeeper.znodes import decode_config_change


@pytest.fixture
async def configs(store, session):
    return EntityConfigs(session)


async def changes_in(session):
    names = await session.children("/config/changes")
    return [decode_config_change(name, (await session.get(f"/config/changes/{name}")).data) for name in names]


def added(**more):
    return lambda present: {**present, **more}


async def test_what_is_set_stands_where_kafka_has_it_and_every_broker_is_told(configs, session):
    assert await configs.change("users/u/clients/c", added(producer_byte_rate="1")) == {"producer_byte_rate": "1"}
    await configs.change("ips/<default>", added(connection_creation_rate="2"))
    znode = await session.get("/config/users/u/clients/c")
    assert znode.data == b'{"version":1,"config":{"producer_byte_rate":"1"}}'
    assert await changes_in(session) == ["users/u/clients/c", "ips/<default>"]
    assert await configs.all() == {
        "users/u/clients/c": {"producer_byte_rate": "1"},
        "ips/<default>": {"connection_creation_rate": "2"},
    }
    assert await configs.of("users/u") == {}
    assert await configs.of("clients/nobody") == {}


async def test_what_is_emptied_goes_with_all_empty_above_it_and_is_told_too(configs, session):
    """KAFKA-14285."""
    await configs.change("users/u/clients/c", added(a="1"))
    await configs.change("users/u/clients/c", lambda _: {})
    assert await session.children("/config/users") == []
    assert len(await changes_in(session)) == 2


async def test_a_user_with_a_password_or_another_client_id_stays(configs, session):
    await configs.change("users/u", added(**{"SCRAM-SHA-256": "x", "a": "1"}))
    await configs.change("users/u/clients/c", added(a="1"))
    await configs.change("users/u/clients/d", added(a="1"))
    await configs.change("users/u/clients/c", lambda _: {})
    assert await session.children("/config/users/u/clients") == ["d"]
    await configs.change("users/u/clients/d", lambda _: {})
    assert await session.children("/config/users/u") == []
    assert await configs.of("users/u") == {"SCRAM-SHA-256": "x", "a": "1"}


async def test_a_user_without_anything_stays_for_the_client_ids_below(configs, session):
    await configs.change("users/u", added(a="1"))
    await configs.change("users/u/clients/c", added(a="1"))
    await configs.change("users/u", lambda _: {})
    assert await configs.all() == {"users/u/clients/c": {"a": "1"}}


async def test_what_was_never_there_may_be_removed(configs, session):
    assert await configs.change("users/u/clients/c", lambda present: present) == {}
    assert await session.children("/config/users") == []


async def test_of_many_changes_at_once_none_is_lost(configs):
    await asyncio.gather(*(configs.change("users/u", added(**{f"k{number}": "1"})) for number in range(8)))
    assert len(await configs.of("users/u")) == 8


async def test_what_cannot_be_read_is_passed_over_and_never_written_over(configs, session):
    await session.create("/config/users/u", b"{no json")
    await configs.change("clients/c", added(a="1"))
    assert await configs.all() == {"clients/c": {"a": "1"}}
    with pytest.raises(MalformedZnode):
        await configs.change("users/u", added(a="1"))
    assert (await session.get("/config/users/u")).data == b"{no json"


async def test_what_the_change_raises_ends_it(configs, session):
    def refuse(_present):
        raise ValueError

    with pytest.raises(ValueError):
        await configs.change("users/u", refuse)
    with pytest.raises(NodeMissing):
        await session.get("/config/users/u")


@pytest.mark.parametrize("path", ["users/.", "users/..", "users/", "users//clients/c", "clients/a\0b"])
async def test_no_name_leads_elsewhere(configs, path):
    with pytest.raises(OperationRefused):
        await configs.change(path, added(a="1"))
