import uuid

import pytest

from tests.barnabas_cluster import running_cluster


@pytest.fixture(scope="package")
def cluster(tmp_path_factory, zookeeper):
    """Three brokers that every client of this folder talks to; tests keep apart by topic and group names."""
    with running_cluster(tmp_path_factory.mktemp("interop"), brokers=3, zookeeper=zookeeper) as running:
        yield running


@pytest.fixture
def name():
    """A topic or group name nobody else uses."""
    return f"t-{uuid.uuid4().hex[:12]}"
