"""Apache Kafka itself, for tests that compare with it: a broker, a Connect worker and the tools, from fetched jars."""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.barnabas_cluster import await_true
from tests.fetched import CONNECT, KAFKA, class_path
from tests.zookeeper_server import free_ports

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "org.apache.kafka.tools.ConfigCommand"
REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
SHARE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
_FORMAT = "kafka.tools.StorageTool"
_BROKER = "kafka.Kafka"
_WORKER = "org.apache.kafka.connect.cli.ConnectDistributed"
#: A cluster id as Kafka makes them: sixteen bytes in base64.
_CLUSTER_ID = "Sm9zZXBoQmFybmFiYXNDeQ"
_ANSWERS_WITHIN_S = 120
#: Most live for seconds: what is compiled a second time, and better, and threads that collect garbage, cost more than
#: they bring.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
#: Both loggers say only what is worth reading when a test fails.
_LOGS = {
    "log4j2.properties": (
        "rootLogger.level=warn\nrootLogger.appenderRef.out.ref=out\nappender.out.type=Console\nappender.out.name=out\n"
        "appender.out.layout.type=PatternLayout\nappender.out.layout.pattern=[%d] %p %m (%c)%n\n"
    ),
    "log4j.properties": (
        "log4j.rootLogger=WARN, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
        "log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n\n"
    ),
}


@contextlib.contextmanager
def running_kafka(
    directory: Path,
    *,
    name: str = KAFKA,
    zookeeper: str | None = None,
    broker_id: int = 1,
    overrides: Mapping[str, str] | None = None,
    fetch: bool = True,
) -> Iterator[str]:
    """Run one broker and yield its bootstrap servers; it has ended afterwards.

    It is its own KRaft controller, or one of the ensemble at `zookeeper` (`host:port/chroot`) where `name` is a Kafka
    that still has one. `{}` in an override stands for the value it replaces. Skips the test where that Kafka is not
    there and cannot be fetched.
    """
    jars = class_path(name, fetch=fetch)
    port, controller_port = free_ports(2)
    directory.mkdir(parents=True, exist_ok=True)
    settings = _settings(directory, port, zookeeper, broker_id, controller_port)
    settings |= {key: value.replace("{}", settings.get(key, "")) for key, value in (overrides or {}).items()}
    config = _write(directory / "server.properties", settings)
    if zookeeper is None:
        java(_FORMAT, "format", "-t", _CLUSTER_ID, "-c", str(config), jars=jars, check=True)
    with _process(directory, jars, _BROKER, config) as process:
        servers = f"127.0.0.1:{port}"
        await_true(lambda: _answers(servers, process, directory), "Apache Kafka answers", _ANSWERS_WITHIN_S)
        yield servers


@contextlib.contextmanager
def connect_worker(directory: Path, settings: Mapping[str, str], *, fetch: bool = True) -> Iterator[subprocess.Popen]:
    """Run a distributed worker of Kafka Connect with these settings; `log_of` the directory is its log."""
    jars = class_path(CONNECT, fetch=fetch)
    directory.mkdir(parents=True, exist_ok=True)
    with _process(directory, jars, _WORKER, _write(directory / "worker.properties", settings)) as process:
        yield process


def java(
    program: str, *arguments: str, jars: str, check: bool = False, timeout_s: int = 240
) -> subprocess.CompletedProcess:
    """Run a class, or a source file, to its end."""
    command = ["java", *_SHORT_LIVED, "-Xmx256m", "-cp", jars, program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=check)


@contextlib.contextmanager
def share_consumer(servers: str, group: str, topic: str) -> Iterator[subprocess.Popen]:
    """Run Kafka's console consumer of a share group; what it reads it prints."""
    jars = class_path(KAFKA, fetch=True)
    words = ("--bootstrap-server", servers, "--topic", topic, "--group", group)
    process = subprocess.Popen(
        ["java", *_SHORT_LIVED, "-Xmx128m", "-cp", jars, SHARE_CONSUMER, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def log_of(directory: Path) -> Path:
    """What the process that runs in that directory has written."""
    return directory / "out.log"


def _settings(
    directory: Path, port: int, zookeeper: str | None, broker_id: int, controller_port: int
) -> dict[str, str]:
    settings = {
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "log.dirs": str(directory / "data"),
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "5",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
    }
    if zookeeper is not None:
        return settings | {"broker.id": str(broker_id), "zookeeper.connect": zookeeper}
    return settings | {
        "process.roles": "broker,controller",
        "node.id": str(broker_id),
        "controller.quorum.voters": f"{broker_id}@127.0.0.1:{controller_port}",
        "listeners": f"{settings['listeners']},CONTROLLER://127.0.0.1:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "3",
    }


def _write(path: Path, settings: Mapping[str, str]) -> Path:
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return path


@contextlib.contextmanager
def _process(directory: Path, jars: str, program: str, config: Path) -> Iterator[subprocess.Popen]:
    for name, text in _LOGS.items():
        (directory / name).write_text(text)
    logging = (
        f"-Dlog4j2.configurationFile={directory / 'log4j2.properties'}",
        f"-Dlog4j.configuration=file:{directory / 'log4j.properties'}",
    )
    with log_of(directory).open("ab") as out:
        process = subprocess.Popen(
            ["java", *_SHORT_LIVED, "-Xmx512m", *logging, "-cp", jars, program, str(config)],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=os.environ | {"LOG_DIR": str(directory)},
        )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _answers(servers: str, process: subprocess.Popen, directory: Path) -> bool:
    assert process.poll() is None, log_of(directory).read_text()[-4000:]
    with contextlib.suppress(KafkaException):
        return bool(AdminClient({"bootstrap.servers": servers, "log_level": 0}).list_topics(timeout=2).brokers)
    return False
