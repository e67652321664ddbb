"""Consumers of the consumer protocol (KIP-848): librdkafka's own, each in a process, so that one can be killed."""

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.apache_kafka import CONSUMER_GROUPS, java
from tests.barnabas_cluster import await_true, running_cluster
from tests.fetched import KAFKA, class_path
from tests.interop.group_member import Member
from tests.interop.records import records
from tests.interop.test_confluent_kafka import consumer, drain, produce

PARTITIONS = 4
_CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
#: Members are told to send heartbeats often, and are missed soon.
QUICK_GROUPS = {"group.consumer.session.timeout.ms": "6000", "group.consumer.heartbeat.interval.ms": "500"}


@pytest.fixture(scope="module")
def broker(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("protocol"), overrides=QUICK_GROUPS, zookeeper=zookeeper) as running:
        yield running


def test_members_share_what_others_leave_and_what_the_killed_had(broker, name):
    _create(broker, name)
    settings = _settings(broker, name)
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


def test_topics_that_match_the_pattern_are_read_as_soon_as_they_are_there(broker, name):
    _create(broker, name)
    member = Member(_settings(broker, name, is_pattern=True))
    _await_shares([member], [4])
    _create(broker, f"{name}-other")
    _await_shares([member], [8])
    member.leave()


def test_static_member_comes_back_to_its_partitions_before_others_get_them(broker, name):
    _create(broker, name)
    static, other = Member(_settings(broker, name, instance="i")), Member(_settings(broker, name))
    _await_shares([static, other], [2, 2])
    before, seen = static.assignment, list(other.events)
    static.leave()
    again = Member(_settings(broker, name, instance="i"))
    _await_shares([again, other], [2, 2])
    assert (again.assignment, other.events) == (before, seen)
    again.leave()
    other.leave()


@pytest.mark.long
@pytest.mark.timeout(600)
def test_kafkas_own_consumer_and_tools_know_the_group(broker, name):
    jars = class_path(KAFKA, fetch=True)
    servers = ("--bootstrap-server", broker.bootstrap_servers)
    _create(broker, name)
    produce(broker, name, records("none", 100))
    wanted = ("--topic", name, "--group", name, "--from-beginning", "--max-messages", "100", "--timeout-ms", "60000")
    protocol = ("--command-property", "group.protocol=consumer")
    read = java(_CONSOLE_CONSUMER, *servers, *wanted, *protocol, jars=jars)
    assert "Processed a total of 100 messages" in read.stderr, read.stderr[-2000:]
    listed = java("org.apache.kafka.tools.GroupsCommand", *servers, "--list", jars=jars).stdout
    assert [name, "Consumer", "consumer"] in [line.split() for line in listed.splitlines()]
    member = Member(_settings(broker, name))
    _await_shares([member], [4])
    described = java(
        CONSUMER_GROUPS, *servers, "--describe", "--group", name, "--members", "--verbose", jars=jars
    ).stdout
    member.leave()
    heading, (_, _, _, _, count, epoch, current, target_epoch, target) = [
        line.split() for line in described.splitlines() if line
    ]
    assert (heading[-1], count, epoch) == ("TARGET-ASSIGNMENT", "4", target_epoch)
    assert current == target == f"{name}:0,1,2,3"


def _settings(broker, name, **fields):
    values = {"servers": broker.bootstrap_servers, "library": "confluent-kafka", "topic": name, "group": name}
    return values | {"is_consumer_protocol": True} | fields


def _create(broker, name):
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(30)


def _await_shares(members, shares):
    def is_shared() -> bool:
        parts = [member.assignment for member in members]
        return sorted(map(len, parts)) == shares and len(set().union(*parts)) == sum(shares)

    await_true(is_shared, f"shares of {shares}", deadline_s=60)
