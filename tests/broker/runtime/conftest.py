"""A real ZooKeeper for this package, and clusters of scripted brokers on it, each below a chroot of its own."""

import itertools

import pytest

from tests.broker.runtime.controller.nodes import Cluster
from tests.zookeeper_server import running_zookeeper

_chroots = itertools.count()


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory):
    with running_zookeeper(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


@pytest.fixture
async def cluster(zookeeper):
    cluster = Cluster(zookeeper, f"/runtime-{next(_chroots)}")
    yield cluster
    for node in list(cluster.running):
        await cluster.stop(node)
