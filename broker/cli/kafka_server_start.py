"""`kafka-server-start`: become a broker with a `server.properties`, or leave one behind."""

from pathlib import Path

from broker.cli.frame.declaration import Arguments, Command, Example
from broker.cli.servers.launching import DAEMON, OVERRIDE, start_own
from broker.cli.servers.server_properties import read_server_properties


def run(arguments: Arguments) -> None:
    """Start a broker. Checks the file here, since nobody sees the output of a background process."""
    path = arguments.words[0]
    read_server_properties(Path(path), dict(arguments["override"]))
    start_own(arguments, ("server", "--config", path), "kafkaServer.out")


COMMAND = Command(
    name="kafka-server-start",
    summary="Start a broker.",
    run=run,
    words=("server.properties",),
    words_required=1,
    options=(DAEMON, OVERRIDE),
    examples=(
        Example("kafka-server-start config/server.properties", "a broker in this terminal; Ctrl-C stops it"),
        Example(
            "kafka-server-start -daemon config/server.properties --override broker.id=2 "
            "--override listeners=PLAINTEXT://localhost:9093 --override log.dirs=/tmp/kafka-logs-2",
            "another with the same file, left running",
        ),
    ),
    notes=(
        "When it serves, its log has a line with `started (kafka.server.KafkaServer)`. With -daemon the log is added "
        "to kafkaServer.out in $LOG_DIR, or in logs/ where the command is typed. What is set for a Java machine "
        "(KAFKA_HEAP_OPTS …) is not read.",
    ),
)
