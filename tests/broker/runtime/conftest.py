"""A real ZooKeeper for this package, and clusters of scripted brokers on it, each below a chroot of its own."""

import itertools

import pytest

from tests.broker.runtime.controller.nodes import Cluster

_chroots = itertools.count()


@pytest.fixture
async def cluster(zookeeper):
    cluster = Cluster(zookeeper, f"/runtime-{next(_chroots)}")
    yield cluster
    for node in list(cluster.running):
        await cluster.stop(node)
