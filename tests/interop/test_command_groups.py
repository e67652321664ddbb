"""`kafka-groups` on groups of both protocols."""

import json

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true
from tests.interop.group_member import Member
from tests.typed import typed


@pytest.fixture
def groups(cluster):
    """`kafka-groups` on the cluster."""
    return lambda *words: typed("kafka-groups", "--bootstrap-server", cluster.bootstrap_servers, *words)


def test_groups_are_listed_with_types_and_protocols(cluster, name, groups):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(30)
    simple = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": f"{name}-simple"})
    simple.commit(offsets=[TopicPartition(name, 0, 0)], asynchronous=False)
    simple.close()
    member = Member(
        {
            "servers": cluster.bootstrap_servers,
            "library": "confluent-kafka",
            "topic": name,
            "group": name,
            "is_consumer_protocol": True,
        }
    )
    await_true(lambda: member.assignment, "the member is assigned", 60)
    head, *lines = groups("--list").out.splitlines()
    width = max(20, *(len(line.split()[0]) for line in lines))
    assert head == f"{'GROUP':<{width}} {'TYPE':<{width}} {'PROTOCOL':<{width}}"
    assert f"{name:<{width}} {'Consumer':<{width}} {'consumer':<{width}} " in lines
    assert f"{name}-simple".ljust(width) + f" {'Classic':<{width}} {'':<{width}} " in lines
    of_type = groups("--list", "--group-type", "CONSUMER", "--output", "json").out
    assert {"group": name, "type": "Consumer", "protocol": "consumer"} in json.loads(of_type)
    assert f"{name}-simple" in groups("--list", "--consumer").out
    assert f"{name}-simple" not in groups("--list", "--protocol", "consumer").out
    assert name not in groups("--list", "--share").out
    wrong = groups("--list", "--group-type", "x")
    assert (wrong.status, "--group-type must be a valid group type." in wrong.err) == (1, True)
    member.leave()
