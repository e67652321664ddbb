"""Kafka's own Java clients and tools, unmodified."""

import shutil
from pathlib import Path

import pytest

from tests.apache_kafka import TOPICS, java
from tests.barnabas_cluster import running_cluster
from tests.fetched import KAFKA, class_path

HOLDS = """\
nodes = 1
made = null
made again ! TopicExistsException: Topic 'java' already exists.
described = 3
described by id = java
configured = null
configuration = 100000
produced none = 500
produced gzip = 500
produced snappy = 500
produced lz4 = 500
produced zstd = 500
too large ! RecordTooLargeException: the batch has 2000074 bytes, max.message.bytes is 1048588
read = 2500
read by a cooperative static member = 2500
transactions = 60 of 60, group at 6
transaction = CompleteAbort
fenced = null
groups = [java-group Empty, java-of-txn Empty, java-static Stable]
lag = 0
reset = null
read again = true
credentials = null
user = [java]
quota = null
quotas = 1
log directories = 1
records deleted = null
groups deleted = null
deleted = null
"""


def test_kafkas_own_tool_creates_a_topic(cluster, name):
    topics = (TOPICS, "--bootstrap-server", cluster.bootstrap_servers, "--topic", name)
    created = java(*topics, "--create", "--partitions", "2", jars=class_path(KAFKA, fetch=False))
    assert created.stdout == f"Created topic {name}.\n", created.stderr[-2000:]


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK, which compiles the program")
def test_kafkas_own_producer_consumer_and_admin_work(tmp_path, zookeeper):
    jars = class_path(KAFKA, fetch=True)
    program = Path(__file__).parent / "java" / "Clients.java"
    with running_cluster(tmp_path, zookeeper=zookeeper) as cluster:
        ended = java(str(program), cluster.bootstrap_servers, jars=jars)
    assert ended.stdout == HOLDS, ended.stderr[-2000:]
