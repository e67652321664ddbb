import asyncio

import pytest

from broker.config.broker import read_broker_config
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
