import asyncio

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.config.broker import read_broker_config
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC, TRANSACTION_TOPIC
from broker.runtime.topics.topic_configs import TopicConfigs
from broker.zookeeper.errors import ConnectionInterrupted, SessionLost

CONFIG = read_broker_config("broker.id=1\nzookeeper.connect=127.0.0.1:2181\n")


class InterruptedStore:
    """A store whose first readings fail; `session` is its own."""

    def __init__(self, *errors: Exception):
        self.session = self
        self._errors = list(errors)
        self.waited = 0

    async def config(self, entity_type: str, name: str) -> dict[str, str]:
        await asyncio.sleep(0)
        if self._errors:
            raise self._errors.pop(0)
        return {"min.insync.replicas": "2"}

    async def wait_connected(self) -> None:
        self.waited += 1


@pytest.mark.parametrize("error", [ConnectionInterrupted, SessionLost])
async def test_a_topic_is_not_hosted_by_the_defaults_while_zookeeper_is_away(error):
    store = InterruptedStore(error("/config/topics/t"), error("/config/topics/t"))
    configs = await TopicConfigs(store, (), CONFIG).log_configs(["t"])
    assert configs["t"].min_insync_replicas == 2
    assert store.waited == 2


class StoreWith:
    """A store that holds these overrides for every topic."""

    def __init__(self, **overrides: str):
        self.session = self
        self.overrides = {key.replace("_", "."): value for key, value in overrides.items()}

    async def config(self, entity_type: str, name: str) -> dict[str, str]:
        return dict(self.overrides)

    async def change_config(self, entity_type, name, change):
        self.overrides = change(dict(self.overrides))
        return self.overrides


@pytest.mark.parametrize("topic", [OFFSETS_TOPIC, TRANSACTION_TOPIC])
@pytest.mark.parametrize("written", [{}, {"cleanup_policy": "delete", "retention_ms": "1"}])
async def test_committed_offsets_are_not_deleted_by_age_whatever_a_tool_has_written(topic, written):
    configs = await TopicConfigs(StoreWith(**written), (), CONFIG).log_configs([topic, "t"])
    assert (configs[topic].is_compacted, configs[topic].is_deleted) == (True, False)
    assert configs["t"].is_deleted


@pytest.mark.parametrize("policy", [None, "", "delete", "compact,delete"])
async def test_an_internal_topic_stays_compacted(policy):
    store = StoreWith(cleanup_policy="compact")

    def change(present):
        others = {key: value for key, value in present.items() if key != "cleanup.policy"}
        return others if policy is None else {**others, "cleanup.policy": policy}

    with pytest.raises(ApiError, match="__consumer_offsets keeps committed offsets") as refusal:
        await TopicConfigs(store, (), CONFIG).change(OFFSETS_TOPIC, change)
    assert refusal.value.code is ErrorCode.INVALID_CONFIG
    assert store.overrides == {"cleanup.policy": "compact"}


async def test_an_internal_topic_that_was_made_without_its_policy_may_be_changed_and_get_it():
    configs = TopicConfigs(store := StoreWith(), (), CONFIG)
    await configs.change(OFFSETS_TOPIC, lambda present: {**present, "segment.bytes": "1000000"})
    await configs.change(OFFSETS_TOPIC, lambda present: {**present, "cleanup.policy": "compact"})
    assert store.overrides == {"segment.bytes": "1000000", "cleanup.policy": "compact"}
