"""One broker for all workers of this folder; tests keep apart by the names of topics and groups."""

import pytest

from tests.barnabas_cluster import running_cluster


@pytest.fixture(scope="package")
def cluster(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("connect"), zookeeper=zookeeper) as running:
        yield running
