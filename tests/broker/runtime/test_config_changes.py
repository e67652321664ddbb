"""Changes of configuration reach their keepers in order, and again after ZooKeeper was away."""

import asyncio

from broker.common.errors import ApiError, ErrorCode
from broker.runtime import config_changes
from broker.runtime.config_changes import ConfigKeepers
from broker.zookeeper.errors import ConnectionInterrupted


class Session:
    async def wait_connected(self):
        await asyncio.sleep(0)


class Changes:
    """Stands for the watch of /config/changes; the test says what changed."""

    def __init__(self, _session, deliver):
        self.is_watching = asyncio.Event()
        self.is_watching.set()
        self.tell = deliver

    def close(self):
        self.tell = None


class Keeper:
    def __init__(self, *errors):
        self.applied = []
        self._errors = list(errors)
        self.changed = asyncio.Condition()

    async def apply(self, name):
        async with self.changed:
            self.applied.append(name)
            self.changed.notify_all()
        if self._errors:
            raise self._errors.pop(0)

    async def has_applied(self, *names):
        async with asyncio.timeout(10), self.changed:
            await self.changed.wait_for(lambda: self.applied == list(names))


async def started(monkeypatch, **keepers: Keeper) -> ConfigKeepers:
    monkeypatch.setattr(config_changes, "ConfigChanges", Changes)
    watching = ConfigKeepers(Session(), [(kind, keeper.apply) for kind, keeper in keepers.items()])
    await watching.start()
    return watching


async def test_all_who_keep_a_kind_are_told(monkeypatch):
    monkeypatch.setattr(config_changes, "ConfigChanges", Changes)
    credentials, quotas = Keeper(), Keeper()
    watching = ConfigKeepers(Session(), [("users", credentials.apply), ("users", quotas.apply)])
    await watching.start()
    watching._changes.tell("users/u")
    await credentials.has_applied("u")
    await quotas.has_applied("u")
    watching.stop()


async def test_each_kind_of_entity_has_its_keeper(monkeypatch):
    topics, brokers = Keeper(), Keeper()
    watching = await started(monkeypatch, topics=topics, brokers=brokers)
    for path in ("topics/t", "users/u", "brokers/<default>", "topics/u"):
        watching._changes.tell(path)
    await topics.has_applied("t", "u")
    await brokers.has_applied("<default>")
    watching.stop()


async def test_a_change_is_applied_again_after_zookeeper_was_away(monkeypatch):
    topics = Keeper(ConnectionInterrupted("/config/topics/t", "away"))
    watching = await started(monkeypatch, topics=topics)
    watching._changes.tell("topics/t")
    watching._changes.tell("topics/u")
    await topics.has_applied("t", "t", "u")
    watching.stop()


async def test_a_change_that_cannot_be_applied_does_not_stop_the_next(monkeypatch):
    topics = Keeper(ApiError(ErrorCode.INVALID_CONFIG))
    watching = await started(monkeypatch, topics=topics)
    watching._changes.tell("topics/t")
    watching._changes.tell("topics/u")
    await topics.has_applied("t", "u")
    watching.stop()


async def test_what_a_keeper_raises_unforeseen_does_not_stop_the_next_change(monkeypatch):
    monkeypatch.setattr("broker.runtime.periodic.AFTER_FAILURE_S", 0)
    topics = Keeper(RuntimeError("a defect"))
    watching = await started(monkeypatch, topics=topics)
    watching._changes.tell("topics/t")
    watching._changes.tell("topics/u")
    await topics.has_applied("t", "u")
    watching.stop()
