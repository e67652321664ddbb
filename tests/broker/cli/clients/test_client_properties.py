import pytest
from confluent_kafka import KafkaError, KafkaException

from broker.cli.clients.client_properties import pair_as_typed, translate
from broker.cli.clients.clients import as_command_errors
from broker.cli.frame.declaration import CommandError


def test_names_of_java_become_those_of_librdkafka():
    config, notices = translate(
        {
            "acks": "all",
            "linger.ms": "5",
            "buffer.memory": "33554432",
            "max.request.size": "2000000",
            "max.block.ms": "1000",
            "send.buffer.bytes": "1024",
            "batch.size": "16384",
            "compression.type": "uncompressed",
        }
    )
    assert notices == []
    assert config == {
        "acks": "all",
        "linger.ms": "5",
        "queue.buffering.max.kbytes": "32768",
        "message.max.bytes": "2000000",
        "topic.metadata.propagation.max.ms": "1000",
        "socket.send.buffer.bytes": "1024",
        "batch.size": "16384",
        "compression.type": "none",
    }


def test_a_batch_size_of_nothing_is_a_batch_for_each_record():
    assert translate({"batch.size": "0"}).config == {"batch.num.messages": "1"}


def test_what_only_java_needs_is_left_out_and_told():
    config, notices = translate(
        {"key.serializer": "X", "metrics.num.samples": "2", "zookeeper.connect": "a:1", "some.new.key": "1"}
    )
    assert config == {"some.new.key": "1"}
    assert notices == [
        "key.serializer is of Java's clients only; it is left out.",
        "metrics.num.samples is of Java's clients only; it is left out.",
        "zookeeper.connect is of Java's clients only; it is left out.",
    ]


def test_a_consumers_properties_have_other_names_than_a_producers():
    assert translate({"request.timeout.ms": "7"}, of_consumer=True).config == {"socket.timeout.ms": "7"}
    assert translate({"request.timeout.ms": "7"}).config == {"request.timeout.ms": "7"}
    assert translate({"fetch.max.wait.ms": "7"}, of_consumer=True).config == {"fetch.wait.max.ms": "7"}


@pytest.mark.parametrize(
    ("java", "ours"),
    [
        ("org.apache.kafka.clients.consumer.RangeAssignor", "range"),
        ("range,roundrobin", "range,roundrobin"),
        (
            "org.apache.kafka.clients.consumer.RangeAssignor,org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
            "range",
        ),
        ("org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "cooperative-sticky"),
    ],
)
def test_assignors_are_named_by_what_they_do(java, ours):
    assert translate({"partition.assignment.strategy": java}).config == {"partition.assignment.strategy": ours}


def test_what_is_of_security_is_left_to_those_who_check_it():
    properties = {
        "security.protocol": "SSL",
        "sasl.jaas.config": "x",
        "ssl.truststore.location": "ca.jks",
        "acks": "all",
    }
    assert translate(properties) == ({"acks": "all"}, [])
    assert translate({"ssl.curves.list": "P-256"}).config == {"ssl.curves.list": "P-256"}


def test_blanks_of_a_pairs_value_count():
    assert pair_as_typed("key.separator=\t") == ("key.separator", "\t")
    assert pair_as_typed("a=b=c ") == ("a", "b=c ")
    with pytest.raises(ValueError):
        pair_as_typed("key.separator")


def test_an_error_that_ends_all_is_a_sentence_also_when_reports_of_records_were_due_behind_it():
    """confluent-kafka goes on with its callbacks while the exception of one of them is set."""
    fatal = KafkaException(KafkaError(KafkaError.CLUSTER_AUTHORIZATION_FAILED, "no right", fatal=True))
    with pytest.raises(CommandError, match="CLUSTER_AUTHORIZATION_FAILED: no right"), as_command_errors():
        raise SystemError("returned a result with an exception set") from fatal
    with pytest.raises(SystemError), as_command_errors():
        raise SystemError("of another kind")
