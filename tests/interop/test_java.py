"""Kafka's own Java clients and tools, unmodified."""

import asyncio
import shutil
from pathlib import Path

import pytest

from broker.config.broker import read_broker_config
from broker.protocol.api_keys import ApiKey
from broker.server.broker import Broker
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


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK, which compiles the program")
async def test_kafkas_own_producer_uses_the_newest_versions_of_what_transactions_take(tmp_path, zookeeper):
    jars = class_path(KAFKA, fetch=True)
    config = read_broker_config(
        "broker.id=1\nlisteners=PLAINTEXT://127.0.0.1:0\noffsets.topic.num.partitions=1\n"
        "transaction.state.log.num.partitions=1\noffsets.topic.replication.factor=1\n"
        "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n"
        "transaction.two.phase.commit.enable=true\n"
        f"log.dirs={tmp_path}\nzookeeper.connect=127.0.0.1:{zookeeper.port}/newest-versions\n"
    )
    broker = Broker(config)
    await broker.start()
    try:
        servers = f"127.0.0.1:{broker._parts.addresses.advertised[0].port}"
        program = Path(__file__).parent / "java" / "Transactions.java"
        ended = await asyncio.to_thread(java, str(program), servers, "newest", jars=jars)
        assert ended.stdout == "done\n", ended.stderr[-2000:]
        used = set(broker._parts.dispatcher._routes)
        log = broker.services.replicas.get("newest", 0).log
        assert log.last_stable_offset(log.log_end_offset) == log.log_end_offset == 6, "three records and their markers"
    finally:
        await broker.stop()
    # InitProducerId 6 is served here, and the producer does not take it for stable.
    newest = {ApiKey.PRODUCE: 13, ApiKey.TXN_OFFSET_COMMIT: 6, ApiKey.END_TXN: 5, ApiKey.INIT_PRODUCER_ID: 5}
    assert {api: version for api, version in used if api in newest} == newest
    assert not {api for api, _ in used} & {ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.ADD_OFFSETS_TO_TXN}
