import pytest

from broker.cli.clients.client_properties import pair_as_typed, translate, unescaped


def test_names_of_java_become_those_of_librdkafka():
    config, told = translate(
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
    assert told == []
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
    config, told = translate(
        {"key.serializer": "X", "metrics.num.samples": "2", "zookeeper.connect": "a:1", "some.new.key": "1"}
    )
    assert config == {"some.new.key": "1"}
    assert told == [
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


def test_a_login_is_read_out_of_jaas():
    line = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="ann" password="a\\"b";'
    assert translate({"sasl.jaas.config": line}).config == {"sasl.username": "ann", "sasl.password": 'a"b'}
    with pytest.raises(ValueError, match="username"):
        translate({"sasl.jaas.config": "X required;"})


def test_stores_are_read_as_pem_and_refused_in_javas_own_format():
    pem = translate({"ssl.truststore.type": "PEM", "ssl.truststore.location": "ca.pem"})
    assert pem == ({"ssl.ca.location": "ca.pem"}, [])
    jks = translate({"ssl.truststore.location": "ca.jks"})
    assert jks.config == {}
    assert jks.told == ["ssl.truststore.location: a store of the type JKS cannot be read (PEM can); it is left out."]


def test_blanks_of_a_pairs_value_count():
    assert pair_as_typed("key.separator=\t") == ("key.separator", "\t")
    assert pair_as_typed("a=b=c ") == ("a", "b=c ")
    with pytest.raises(ValueError):
        pair_as_typed("key.separator")


def test_separators_in_files_are_escaped_as_java_reads_them():
    assert unescaped({"a": r"\t", "b": r"\u0001\n", "c": r"x\:y\\"}) == {"a": "\t", "b": "\x01\n", "c": "x:y\\"}
