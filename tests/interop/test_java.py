"""Kafka's own Java clients, unmodified, where their jars are."""

import subprocess
from pathlib import Path

import pytest

from tests.barnabas_cluster import running_cluster
from tests.kafka_jars import CLIENTS, class_path, needs_java_clients

pytestmark = [needs_java_clients, pytest.mark.timeout(300)]

HOLDS = """\
nodes = 1
made = null
made again ! TopicExistsException: topic 'java' exists already
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


def test_kafkas_own_producer_consumer_and_admin_work(tmp_path, zookeeper):
    program = Path(__file__).parent / "java" / "Clients.java"
    with running_cluster(tmp_path, zookeeper=zookeeper) as cluster:
        command = ["java", "-Xmx256m", "-cp", class_path(CLIENTS), str(program), cluster.bootstrap_servers]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert ended.stdout == HOLDS, ended.stderr[-2000:]
