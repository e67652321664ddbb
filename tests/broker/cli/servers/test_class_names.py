import pytest

from broker.cli.commands import ALL_NAMES
from broker.cli.servers.class_names import COMMANDS, SERVERS, current_arguments, reason_of_absence


def test_every_class_is_a_command_that_there_is():
    assert set(COMMANDS.values()) | SERVERS <= set(ALL_NAMES)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("kafka.tools.ConsumerOffsetChecker", "kafka-consumer-offset-checker"),
        ("kafka.tools.GetOffsetShell", "kafka-get-offsets"),
        ("org.apache.kafka.tools.GetOffsetShell", "kafka-get-offsets"),
        ("kafka.admin.TopicCommand", "kafka-topics"),
        ("org.apache.kafka.tools.TopicCommand", "kafka-topics"),
        ("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "kafka-consumer-groups"),
        ("kafka.tools.DumpLogSegments", "kafka-dump-log"),
        ("kafka.Kafka", "kafka-server-start"),
    ],
)
def test_a_class_has_its_scala_and_its_java_name(name, command):
    assert COMMANDS[name] == command


def test_what_cannot_be_here_has_a_reason():
    assert "metrics.listener" in reason_of_absence("kafka.tools.JmxTool")
    assert reason_of_absence("org.apache.kafka.tools.JmxTool")
    assert reason_of_absence("com.example.JmxTool") is None
    assert reason_of_absence("kafka.tools.GetOffsetShell") is None


def test_the_words_of_the_first_latency_test_are_put_in_todays_order():
    old = ["localhost:9092", "localhost:2181", "t", "1000", "100", "-1"]
    assert current_arguments("kafka.tools.TestEndToEndLatency", old) == ["localhost:9092", "t", "1000", "all", "5"]
    assert current_arguments("kafka.tools.EndToEndLatency", old) == old
