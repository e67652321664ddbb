import uuid

import pytest

from tests.barnabas_cluster import running_cluster

LISTENERS = {
    "listeners": "PLAINTEXT://127.0.0.1:{port},PARTNERS://127.0.0.1:0,MEMBERS-1://127.0.0.1:0,CONTROL://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,PARTNERS:PLAINTEXT,MEMBERS-1:PLAINTEXT,CONTROL:PLAINTEXT",
    "inter.broker.listener.name": "MEMBERS-1",
    "control.plane.listener.name": "CONTROL",
}
#: Everybody here may do everything, and rules are kept.
RULES_OF_ACCESS = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.fixture(scope="package")
def cluster(tmp_path_factory, zookeeper):
    """Three brokers that every client of this folder talks to; tests keep apart by topic and group names."""
    directory = tmp_path_factory.mktemp("interop")
    overrides = LISTENERS | RULES_OF_ACCESS
    with running_cluster(directory, brokers=3, overrides=overrides, zookeeper=zookeeper) as running:
        yield running


@pytest.fixture(scope="module")
def with_quick_chores(tmp_path_factory, zookeeper):
    """A broker whose retention and compaction run all the time."""
    overrides = {
        "log.retention.check.interval.ms": "200",
        "log.cleaner.backoff.ms": "200",
        "log.initial.task.delay.ms": "100",
        "log.flush.scheduler.interval.ms": "200",
    }
    with running_cluster(tmp_path_factory.mktemp("chores"), overrides=overrides, zookeeper=zookeeper) as running:
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


@pytest.fixture
def three_brokers(tmp_path, zookeeper):
    """Three brokers of the test's own, for it to kill."""
    with running_cluster(tmp_path, brokers=3, zookeeper=zookeeper) as running:
        yield running
