"""Consumers of the consumer protocol (KIP-848): librdkafka's own, each in a process, so that one can be killed."""

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true, running_cluster
from tests.interop.group_member import Member
from tests.interop.records import records
from tests.interop.test_confluent_kafka import consumer, drain, produce

PARTITIONS = 4
#: Members are told to send heartbeats often, and are missed soon.
QUICK_GROUPS = {"group.consumer.session.timeout.ms": "6000", "group.consumer.heartbeat.interval.ms": "500"}


@pytest.fixture(scope="module")
def broker(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("protocol"), overrides=QUICK_GROUPS, zookeeper=zookeeper) as running:
        yield running


def test_members_share_what_others_leave_and_what_the_killed_had(broker, name):
    _create(broker, name)
    settings = {
        "servers": broker.bootstrap_servers,
        "library": "confluent-kafka",
        "topic": name,
        "group": name,
        "is_consumer_protocol": True,
    }
    first = Member(settings)
    _await_shares([first], [4])
    second, third = Member(settings), Member(settings)
    _await_shares([first, second, third], [1, 1, 2])
    second.leave()
    _await_shares([first, third], [2, 2])
    third.crash()
    _await_shares([first], [4])
    first.leave()


def test_every_record_is_read_from_where_the_group_stopped(broker, name):
    _create(broker, name)
    settings = {"group.protocol": "consumer"}
    sent = records("none", 100)
    produce(broker, name, sent)
    reader = consumer(broker, name, **settings)
    reader.subscribe([name])
    assert len(drain(reader, 100)) == 100
    reader.commit(asynchronous=False)
    reader.close()
    produce(broker, name, sent[:10])
    again = consumer(broker, name, **settings)
    again.subscribe([name])
    assert len(drain(again, 10)) == 10
    again.close()


def _create(broker, name):
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(30)


def _await_shares(members, shares):
    def is_shared() -> bool:
        parts = [member.assignment for member in members]
        return sorted(map(len, parts)) == shares and len(set().union(*parts)) == sum(shares)

    await_true(is_shared, f"shares of {shares}", deadline_s=60)
