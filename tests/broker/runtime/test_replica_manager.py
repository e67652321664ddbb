"""Deleted partitions leave the disk."""

import asyncio
import threading
from uuid import UUID

import pytest

from broker.common.clock import SystemClock
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.runtime.purgatory import Purgatory
from broker.runtime.replica_manager import ReplicaManager
from tests.eventually import eventually


@pytest.fixture
def logs(tmp_path):
    logs = LogManager([tmp_path / "logs"], LogConfig(), 1, "cluster")
    logs.load_all()
    yield logs
    logs.shutdown()


async def test_a_log_deleted_as_an_earlier_purge_ends_is_purged_too(logs, tmp_path, monkeypatch):
    purge, begun, may_end = logs.purge_deleted, threading.Event(), threading.Event()

    def purge_slowly() -> None:
        purge()
        begun.set()
        may_end.wait(10)

    monkeypatch.setattr(logs, "purge_deleted", purge_slowly)
    replicas = ReplicaManager(1, logs, Purgatory(SystemClock()), SystemClock())
    partitions = [TopicPartition("t", index) for index in range(2)]
    for partition in partitions:
        logs.get_or_create(partition, UUID(int=1))
    replicas.stop_replica(partitions[0], delete=True)
    await asyncio.to_thread(begun.wait, 10)
    replicas.stop_replica(partitions[1], delete=True)
    may_end.set()
    await eventually(lambda: not list((tmp_path / "logs").glob("*-delete")), "the files of both logs are gone")
