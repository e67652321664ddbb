"""Commands on a Kafka by other hands."""

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.another_kafka import tansu
from tests.typed import typed, typed_in_shell

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def servers():
    with tansu() as opened:
        client = {"bootstrap.servers": opened}
        admin = AdminClient(client)
        admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(30)
        producer = Producer(client)
        for number in range(10):
            producer.produce("orders", b"%d" % number)
        assert producer.flush(30) == 0
        yield opened


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("kafka-topics --list", "orders"),
        ("kafka-topics --describe --topic orders", "PartitionCount: 1"),
        ("kafka-configs --describe --entity-type topics --entity-name orders", "Dynamic configs for topic orders are:"),
        ("kafka-get-offsets --topic orders --time earliest", "orders:0:0"),
        ("kafka-cluster cluster-id", "Cluster ID: tansu_cluster"),
        ("kafka-broker-api-versions", "Produce(0): "),
        ("kafka-console-consumer --topic orders --partition 0 --from-beginning --max-messages 2", "0\n1\n"),
        ("kafka-producer-perf-test --topic orders --num-records 9 --record-size 9 --throughput -1", "9 records sent"),
    ],
)
def test_what_it_serves_works(servers, command, shown):
    name, *words = command.split()
    there = typed_in_shell(name, *words, "--bootstrap-server", servers)
    assert (there.status, shown in there.out) == (0, True), there


@pytest.mark.parametrize(
    "command", ["kafka-log-dirs --describe", "kafka-consumer-groups --describe --group billing", "kafka-acls --list"]
)
def test_what_it_does_not_serve_is_no_traceback(servers, command):
    name, *words = command.split()
    there = typed(name, *words, "--bootstrap-server", servers)
    assert "Traceback" not in there.out + there.err
