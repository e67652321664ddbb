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


@pytest.fixture
def two_disks(tmp_path, zookeeper):
    """A broker with the log directories `one` and `other`; between them 2 MB are copied in a second."""
    overrides = {
        "log.dirs": f"{tmp_path}/one,{tmp_path}/other",
        "replica.alter.log.dirs.io.max.bytes.per.second": "2000000",
        "log.flush.offset.checkpoint.interval.ms": "200",
        "log.initial.task.delay.ms": "100",
    }
    with running_cluster(tmp_path, overrides=overrides, zookeeper=zookeeper) as running:
        yield running
