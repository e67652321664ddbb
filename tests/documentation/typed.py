"""How a test types each command of the documents, or why none does.

A command is written as `command_lines` gives it: without its comment, one line, quoted as a shell needs it.
"""

from typing import NamedTuple


class DocumentCommand(NamedTuple):
    """`shows` is a regular expression for what it prints. One that `stays` is left by Ctrl-C once it shows that."""

    line: str
    shows: str
    stdin: str = ""
    stays: bool = False


_SERVED = r"started \(kafka\.server\.KafkaServer\)"
#: On a cluster, in this order; the first ones in the gate.
SHORT_ON_CLUSTER = [
    DocumentCommand(
        "kafka-topics --bootstrap-server localhost:9092 --create --topic orders --partitions 4 --replication-factor 3",
        "Created topic",
    ),
    DocumentCommand("kafka-console-producer --bootstrap-server localhost:9092 --topic orders", "^$", "a record\n"),
    DocumentCommand(
        "kafka-console-consumer --bootstrap-server localhost:9092 --topic orders --from-beginning",
        "a record",
        stays=True,
    ),
    DocumentCommand("kafka-reassign-partitions --bootstrap-server localhost:9092 --list", "No partition reassignments"),
    DocumentCommand(
        "kafka-configs --bootstrap-server localhost:9092 --alter --entity-type topics --entity-name orders "
        "--add-config retention.ms=86400000",
        "Completed updating config for topic",
    ),
]
LONG_ON_CLUSTER = [
    DocumentCommand(
        "bin/kafka-topics.sh --bootstrap-server localhost:9092 --create --topic orders --partitions 4 "
        "--replication-factor 3",
        "Created topic",
    ),
    DocumentCommand("bin/kafka-topics.sh --zookeeper localhost:2181 --list", "t-"),
    DocumentCommand("bin/kafka-console-producer.sh --broker-list localhost:9092 --topic orders", "^$", "a record\n"),
    DocumentCommand(
        "bin/kafka-console-consumer.sh --bootstrap-server localhost:9092 --topic orders --from-beginning",
        "a record",
        stays=True,
    ),
    DocumentCommand(
        ".venv/bin/python -m broker.examples.NAME --bootstrap-server localhost:9092 '[--topic' 'T]' '[--group' 'G]' "
        "'[--count' 'N]'",
        "a record",
    ),
    DocumentCommand(
        "kafka-consumer-groups --bootstrap-server localhost:9092 --describe --group billing", r"CURRENT-OFFSET"
    ),
    DocumentCommand(
        "bin/kafka-consumer-groups.sh --bootstrap-server localhost:9092 --describe --group billing", r"CURRENT-OFFSET"
    ),
    DocumentCommand("bin/zookeeper-shell.sh localhost:2181 ls /brokers/ids", r"\[1, 2, 3\]"),
    DocumentCommand(
        "kafka-configs --bootstrap-server localhost:9092 --alter --entity-type topics --entity-name orders "
        "--add-config barnabas.audit.enable=true",
        "Completed updating config for topic",
    ),
    DocumentCommand(
        "kafka-configs --bootstrap-server 127.0.0.1:9092 --command-config data/secrets/client.properties --alter "
        "--entity-type users --entity-name alice --add-config 'SCRAM-SHA-256=[password=…]'",
        "Completed updating config for user alice",
    ),
    DocumentCommand(
        "kafka-acls --bootstrap-server 127.0.0.1:9092 --command-config data/secrets/client.properties --add "
        "--allow-principal User:alice --producer --topic orders",
        "Adding ACLs",
    ),
    DocumentCommand(
        "kafka-acls --bootstrap-server 127.0.0.1:9092 --command-config data/secrets/client.properties --add "
        "--allow-principal User:alice --consumer --topic orders --group billing",
        "Adding ACLs",
    ),
    DocumentCommand("barnabas dump-log --files FILE --print-data-log", "payload: a record"),
    DocumentCommand(
        "barnabas retention-preview --bootstrap-server HOST:PORT --zookeeper HOST:PORT --topic T "
        "--config retention.ms=1000",
        "segment",
    ),
    DocumentCommand("barnabas audit --bootstrap-server HOST:PORT --topic T --json", ""),
    DocumentCommand("python -m broker audit --bootstrap-server HOST:PORT", ""),
    DocumentCommand("python -m broker audit-count --bootstrap-server HOST:PORT", "", stays=True),
    DocumentCommand(".venv/bin/python -m broker connect-template big_orders --kind source", "big_orders"),
    DocumentCommand(".venv/bin/python -m broker stream-template big_orders", "big_orders"),
    DocumentCommand("python -m broker stream-jobs", "dedupe"),
    DocumentCommand("python -m broker stream-jobs JOB", "by"),
    DocumentCommand(
        "barnabas certificates tls --broker kafka1.example,10.0.0.1 --broker kafka2.example,10.0.0.2 "
        "--broker kafka3.example,10.0.0.3",
        "kafka3",
    ),
    DocumentCommand(
        "connect-standalone config/connect-standalone.properties config/connect-file-source.properties "
        "config/connect-file-sink.properties",
        "Kafka Connect started",
        stays=True,
    ),
    DocumentCommand("connect-distributed config/connect-distributed.properties", "Kafka Connect started", stays=True),
    DocumentCommand("schema-registry-start config/schema-registry.properties", "registry", stays=True),
    DocumentCommand("barnabas broker --config server.properties", _SERVED, stays=True),
    DocumentCommand("barnabas broker --config server.properties --override broker.rack=a", _SERVED, stays=True),
    DocumentCommand(".venv/bin/python -m broker server --config server.properties", _SERVED, stays=True),
    DocumentCommand("kafka-server-start server.properties", _SERVED, stays=True),
    DocumentCommand("bin/kafka-server-start.sh config/server.properties", _SERVED, stays=True),
    DocumentCommand("barnabas zookeeper DIR --client-port 2181", "", stays=True),
    DocumentCommand("bin/zookeeper-server-start.sh config/zookeeper.properties", "binding to port", stays=True),
]
#: Against a console with an API token, in this order.
ON_CONSOLE = [
    DocumentCommand("barnabas api get topics search=orders", "orders"),
    DocumentCommand(
        "barnabas api apply create-topic name=clicks partition_count=3 replication_factor=2", "clicks", "y\n"
    ),
    DocumentCommand("barnabas export --names 'shop.*' '>' shop.yaml", "shop"),
    DocumentCommand("barnabas diff shop.yaml", "Digest:"),
    DocumentCommand("barnabas apply shop.yaml --yes --digest DIGEST", "made"),
    DocumentCommand("barnabas apply shop.yaml", "as the files declare it", "y\n"),
    DocumentCommand("barnabas drift shop.yaml", ""),
]
_PRODUCT = "starts or ends a whole product on the usual ports; tests/browser starts one by the same command"
_HOSTS = "its hosts are somebody else's"
_WHEEL = "tests/tidy/test_wheel.py builds the wheel and installs it"
_WORKER = "needs the login file of a running product; tests/browser and tests/broker/connect ask the same addresses"
_API = "tests/console/shell/api asks the same addresses with a token"
_STOPS_ALL = "stops every server of the machine; tests/interop/test_document_lines.py types it among its own processes"
#: Why no test types it as it stands.
NOT_TYPED = {
    "make up": _PRODUCT,
    "make down": _PRODUCT,
    "barnabas up": _PRODUCT,
    "barnabas down": _PRODUCT,
    "make up DEMO=0": _PRODUCT,
    "make up 'DOCUMENTS=notes.txt '\"'\"'my book.txt'\"'\"''": _PRODUCT,
    "make up SECURE=1": _PRODUCT,
    "make up AUDIT=1": _PRODUCT,
    "make up MIRROR=1": _PRODUCT,
    "make help": "prints the targets of the Makefile, which tests/tidy reads",
    "make wheel": _WHEEL,
    "pip install './barnabas-….whl[all]'": _WHEEL,
    "pip install './barnabas-….whl'": _WHEEL,
    "cp -r '$VIRTUAL_ENV/share/barnabas/config' .": _WHEEL,
    "BARNABAS_BROKERS=0 BARNABAS_BOOTSTRAP_SERVERS=kafka1:9092,kafka2:9092 barnabas up": _HOSTS,
    "BARNABAS_PATH_PREFIX=/kafka BARNABAS_TLS_PROXY=1 BARNABAS_ALLOWED_HOSTS=console.example make up": _HOSTS,
    "'BARNABAS_MIRROR_CLUSTERS=west=host:9092 north=host:9092'": _HOSTS,
    "BARNABAS_CLIENT_CONFIG=/etc/barnabas/client.properties": "sets a variable, which tests/tidy/test_links.py knows",
    "TOKEN=VALUE": "sets a variable of the shell",
    "API=http://127.0.0.1:8080/api/v1": "sets a variable of the shell",
    "kafka-configs --zookeeper kafka1.example:2181 --alter --entity-type users --entity-name admin "
    "--add-config 'SCRAM-SHA-256=[password=…]'": _HOSTS,
    "connect-mirror-maker config/connect-mirror-maker.properties": (
        "needs two clusters; tests/broker/mirror/test_mirror_commands.py starts it"
    ),
    "kafka-mirror-maker --consumer.config source.properties --producer.config target.properties "
    "--include 'orders.*'": "needs two clusters; tests/broker/mirror/test_mirror_commands.py starts it",
    "kafka-mirror-groups --bootstrap-server east:9092 --to-bootstrap-server west:9092 --flow 'east->west' "
    "--group billing --execute": "needs a mirror; tests/broker/mirror/test_mirror_commands.py runs it",
    "python -m broker stream --config FILE": "needs a JVM; tests/broker/spark starts drivers",
    "python -m console start_afresh NAME --yes": (
        "needs a cluster that was lost; tests/console/state/clusters/test_reset_cluster.py runs it"
    ),
    "curl -u VALUE -X PUT -H 'Content-Type: application/json' -d @orders.json "
    "127.0.0.1:8083/connectors/orders/config": _WORKER,
    "curl -u VALUE 127.0.0.1:8083/connectors": _WORKER,
    "curl -u VALUE 127.0.0.1:8083/connector-plugins": _WORKER,
    "curl -H 'Authorization: Bearer $TOKEN' '$API/topics?search=orders'": _API,
    "curl -H 'Authorization: Bearer $TOKEN' -H 'Content-Type: application/json' '$API/plans' -d "
    '\'{"action": "create-topic", "parameters": {"name": "clicks", "partition_count": 3, "replication_factor": 2}}\'': (
        _API
    ),
    "curl -N -H 'Authorization: Bearer $TOKEN' '$API/events'": _API,
    "barnabas api events": "goes on for ever; tests/console/shell/api/test_events.py reads the stream",
    "bin/kafka-server-stop.sh": _STOPS_ALL,
    "bin/zookeeper-server-stop.sh": _STOPS_ALL,
}
TYPED = {command.line for command in (*SHORT_ON_CLUSTER, *LONG_ON_CLUSTER, *ON_CONSOLE)}
