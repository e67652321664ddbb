"""What is set for brokers in ZooKeeper counts, and whoever goes by it hears of it."""

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.config.broker import read_broker_config
from broker.runtime.broker_configs import BrokerConfigs
from broker.zookeeper.errors import ConnectionInterrupted


class Store:
    """/config/brokers."""

    def __init__(self):
        self.configs: dict[str, dict[str, str]] = {}
        self.is_away = False

    async def config(self, entity_type, name):
        assert entity_type == "brokers"
        if self.is_away:
            raise ConnectionInterrupted(name, "away")
        return dict(self.configs.get(name, {}))

    async def change_config(self, entity_type, name, change):
        self.configs[name] = change(await self.config(entity_type, name))
        return self.configs[name]


@pytest.fixture
def config():
    return read_broker_config("broker.id=7\nzookeeper.connect=z:1\n")


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def configs(store, config):
    return BrokerConfigs(store, config)


@pytest.mark.parametrize("name", ["7", "<default>"])
async def test_what_was_set_counts_once_applied(configs, store, config, name):
    store.configs[name] = {"message.max.bytes": "99"}
    await configs.apply()
    assert config.message_max_bytes == 99


async def test_another_brokers_configuration_is_nothing_to_us(configs, store, config):
    store.configs["8"] = {"message.max.bytes": "99"}
    await configs.apply("8")
    await configs.apply()
    assert config.message_max_bytes == 1_048_588


async def test_what_cannot_count_is_left_out_and_the_rest_counts(configs, store, config):
    """Written by a tool past every check."""
    written = {"broker.id": "9", "colour": "red", "log.segment.bytes": "x", "max.connections": "5"}
    store.configs["7"] = written
    await configs.apply()
    assert (config.broker_id, config.max_connections) == (7, 5)
    assert config.log_segment_bytes == 1_073_741_824


async def test_listeners_hear_of_changes_only(configs, store, config):
    heard = []
    configs.on_changed.append(lambda: heard.append(config.max_connections))
    await configs.apply()
    await configs.change("", lambda _: {"max.connections": "5"})
    await configs.apply()
    await configs.change("7", lambda _: {"max.connections": "5"})
    await configs.change("7", lambda _: {"max.connections": "6"})
    assert heard == [5, 6]


async def test_a_listener_that_failed_hears_again(configs, store):
    """ZooKeeper may go between the change and what a listener must read from it."""
    heard = []

    async def listen():
        heard.append(store.is_away)
        store.is_away = not store.is_away
        if store.is_away:
            raise ConnectionInterrupted("/config/topics/t", "away")

    configs.on_changed.append(listen)
    store.configs["7"] = {"max.connections": "5"}
    with pytest.raises(ConnectionInterrupted):
        await configs.apply()
    store.is_away = False
    heard.clear()
    with pytest.raises(ConnectionInterrupted):
        await configs.apply()
    assert heard == [False]


async def test_a_refused_change_is_not_written(configs, store):
    with pytest.raises(ApiError) as refused:
        await configs.change("", lambda _: {"max.connections": "5", "log.dirs": "/x"})
    assert refused.value.code == ErrorCode.INVALID_REQUEST
    assert store.configs == {}
