"""Every command line of the documents this product was made after, as it stands there, and what comes of it.

`python -m tests.interop.documents` writes the table of tests/README.md; `test_document_lines.py` types each line.

Of the five documents 000 (slides), 002 (a guide) and 003 (an introduction) have command lines, 001 (notes) has none,
and 004 (slides) two calls of curl that are jokes. Hosts, ports, topics and directories stand in braces, and lines that
a slide broke are whole. Long dashes and single ones are as the documents have them; what their text says instead of
typing it is joined to the line it means. Script names that were lost from 003, whose lines begin
`$KAFKA_HOME/bin/ --create`, are put back.
"""

import re
from dataclasses import dataclass

from broker.cli.commands import ALL_NAMES


@dataclass(frozen=True, slots=True)
class Line:
    """`place` is document and line, with a letter where one line has several commands."""

    place: str
    typed: str
    #: What the document says of it, and what there is to say of it here besides.
    result: str

    @property
    def command(self) -> str:
        """The first of Kafka's commands in it, by the name without .sh; empty for none."""
        words = [word.removesuffix(".sh") for word in re.split(r"[\s/]+", self.typed)]
        return next((word for word in words if word in ALL_NAMES), "")


ALL = (
    Line("002:146a", "bin/zookeeper-server-start.sh config/zookeeper.properties", "ZooKeeper runs in the terminal"),
    Line("002:146b", "bin/kafka-server-start.sh config/server.properties", "a broker runs in the terminal"),
    Line(
        "002:158a",
        "cp config/server.properties config/server-1.properties; cp config/server.properties "
        "config/server-2.properties; ls config/",
        "files for two more brokers; number, listener and log directory are edited",
    ),
    Line("002:158b", "bin/kafka-server-start.sh config/server-1.properties", "the second broker"),
    Line("002:158c", "bin/kafka-server-start.sh config/server-2.properties", "the third broker"),
    Line(
        "000:507",
        "{zk}/bin/zkCli.sh -server {zookeeper}",
        "`ls /brokers`, typed at its prompt, shows ids and topics",
    ),
    Line(
        "000:516",
        "{usr}/bin/kafka-topics --create --zookeeper {zookeeper} --replication-factor 2 --partitions 4 --topic {topic}",
        "the topic is created",
    ),
    Line("000:523", "{usr}/bin/kafka-topics --zookeeper {zookeeper} --list", "the topics, one a line"),
    Line(
        "000:545",
        "{kafka}/bin/kafka-topics.sh --describe --topic {topic} --zookeeper {zookeeper}",
        "leader, replicas and ISR of each partition",
    ),
    Line(
        "002:106",
        "bin/kafka-topics.sh –zookeeper {zookeeper} –create –topic {topic} –partitions 2 –replication-factor 3 "
        "–config retention.ms=3600000",
        "the topic is created with its settings",
    ),
    Line(
        "002:110",
        "bin/kafka-topics.sh –zookeeper {zookeeper} –alter –topic {topic} –partitions 40",
        "the topic has 40 partitions, after a warning that keys move",
    ),
    Line(
        "002:114a",
        "bin/kafka-topics.sh –zookeeper {zookeeper} –alter –topic {topic} –config x=y",
        "a setting of the topic is set, where x is one; another is refused in a sentence",
    ),
    Line(
        "002:114b",
        "bin/kafka-topics.sh –zookeeper {zookeeper} –alter –topic {topic} –delete-config x",
        "the setting is gone",
    ),
    Line(
        "002:118",
        "bin/kafka-topics.sh –zookeeper {zookeeper}{chroot} –delete –topic {topic}",
        "the topic is deleted; delete.topic.enable=true is the default here",
    ),
    Line(
        "002:150a",
        "bin/kafka-topics.sh –create –zookeeper localhost 2101 –replication factor 1 -partitions 1 –topic test",
        "as typed there it cannot be meant: `replication is not a recognized option`, status 1",
    ),
    Line(
        "002:150b",
        "bin/kafka-topics.sh –create –zookeeper {zookeeper} –replication-factor 1 -partitions 1 –topic {topic}",
        "as it was meant: the topic is created; each long dash is told of",
    ),
    Line("002:150c", "bin/kafka-topics.sh –list –zookeeper {zookeeper}", "the topic is in the list"),
    Line(
        "002:158d",
        "bin/kafka-topics.sh –create –zookeeper {zookeeper} –replication-factor 3 –partitions 1 –topic {topic}",
        "a topic on all three brokers",
    ),
    Line(
        "002:158e",
        "bin/kafka-topics.sh –describe –zookeeper {zookeeper} –topic {topic}",
        "who leads it; after the kill of that broker another one",
    ),
    Line(
        "003:159",
        "$KAFKA_HOME/bin/kafka-topics.sh --create --zookeeper {zookeeper} --replication-factor 1 --partitions 1 "
        "--topic {topic} --config {setting}",
        "the topic is created with the setting",
    ),
    Line(
        "003:163",
        "$KAFKA_HOME/bin/kafka-topics.sh --delete --zookeeper {zookeeper} --topic {topic}",
        "the topic is deleted",
    ),
    Line(
        "000:531",
        "{kafka}/bin/kafka-console-producer.sh --broker-list {bootstrap} --topic {topic}",
        "each line typed becomes a record",
    ),
    Line(
        "000:538",
        "{kafka}/bin/kafka-console-consumer.sh --bootstrap-server {bootstrap} --topic {topic} --from-beginning",
        "the records, from the first on",
    ),
    Line(
        "002:154a",
        "bin/kafka-console-producer.sh –broker-list {bootstrap} –topic {topic}",
        "each line typed becomes a record",
    ),
    Line(
        "002:154b",
        "bin/kafka-console-consumer.sh –bootstrap-server {bootstrap} –topic {topic} –from-beginning",
        "what was typed appears",
    ),
    Line(
        "003:167",
        "$KAFKA_HOME/bin/kafka-console-producer.sh --broker-list {bootstrap} --topic {topic} "
        "--producer.config $KAFKA_HOME/config/producer.properties",
        "the same with a properties file (without TLS)",
    ),
    Line(
        "003:171",
        "sudo $KAFKA_HOME/bin/kafka-console-consumer.sh --bootstrap-server {bootstrap} --topic {topic} "
        "–consumer.config $KAFKA_HOME/config/consumer.properties",
        "the same with a properties file: records from now on, for a group",
    ),
    Line(
        "002:122",
        "bin/kafka-run-class.sh kafka.tools.ConsumerOffsetChecker –zookeeper {zookeeper} –group {group}",
        "offset, log end, lag and owner of each partition the group has read",
    ),
    Line("002:126a", "bin/kafka-consumer-groups.sh –bootstrap-server {bootstrap} –list", "the groups, one a line"),
    Line(
        "002:126b",
        "bin/kafka-consumer-groups.sh –bootstrap-server {bootstrap} –describe –group {group}",
        "positions and lag of the group",
    ),
    Line(
        "002:162a",
        "bin/kafka-console-producer.sh –broker-list {bootstrap} –topic {topic}",
        "records for the fault test",
    ),
    Line(
        "002:162b",
        "bin/kafka-console-consumer.sh –bootstrap-server {bootstrap} –from-beginning –topic {topic}",
        "all of them, before the kill",
    ),
    Line("002:162c", "ps aux | grep server-1.properties", "the broker's process, whose number is then killed"),
    Line(
        "002:162d",
        "bin/kafka-console-consumer.sh –bootstrap-server {bootstrap} -from-beginning –topic {topic}",
        "all of them still, after the kill",
    ),
    Line(
        "002:168a",
        "bin/connect-standalone.sh config/connect-standalone.properties config/connect-file-source.properties "
        "config/connect-file-sink.properties",
        "a worker copies the lines of test.txt into the topic and from there into test.sink.txt",
    ),
    Line(
        "002:168b",
        "bin/kafka-console-consumer.sh –bootstrap-server {bootstrap} –topic connect-test –from-beginning",
        "the lines, each with its schema",
    ),
    Line("000:501", "{kafka}/bin/kafka-server-stop.sh", "all brokers of the machine stop"),
    Line(
        "000:494",
        "{kafka}/bin/kafka-server-start.sh -daemon \\\n   {kafka}/config/server.properties",
        "a broker is left running, with its log in logs/kafkaServer.out",
    ),
)
LINES = {line.place: line for line in ALL}


def table() -> str:
    """For tests/README.md, by document and line."""
    rows = [
        f"| {change.place} | `{_on_one_line(change.typed)}` | {change.result} |" for change in sorted(ALL, key=_place)
    ]
    return "\n".join(["| line | typed | what happens |", "| --- | --- | --- |", *rows])


def _place(line: Line) -> tuple[str, int, str]:
    document, number, letter = re.fullmatch(r"(\d+):(\d+)(\w?)", line.place).groups()
    return document, int(number), letter


def _on_one_line(typed: str) -> str:
    return re.sub(r"\s*\\\n\s*", " ", typed).replace("|", "\\|")


if __name__ == "__main__":
    print(table())
