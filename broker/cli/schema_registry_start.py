"""`schema-registry-start`: become a schema registry with a `schema-registry.properties`, or leave one behind."""

from broker.cli.frame.declaration import Arguments, Command, Example
from broker.cli.servers.launching import DAEMON, OVERRIDE, start_own
from broker.common.extras import require
from broker.registry.config import read_config_file


def run(arguments: Arguments) -> None:
    """Start a registry. Checks the file here, since nobody sees the output of a background process."""
    require("registry")
    path = arguments.words[0]
    read_config_file(path, dict(arguments["override"]))
    start_own(arguments, ("registry", "--config", path), "schema-registry.out")


COMMAND = Command(
    name="schema-registry-start",
    summary="Start a schema registry.",
    run=run,
    words=("schema-registry.properties",),
    words_required=1,
    options=(DAEMON, OVERRIDE),
    examples=(
        Example("schema-registry-start config/schema-registry.properties", "a registry in this terminal, on port 8081"),
        Example(
            "schema-registry-start -daemon config/schema-registry.properties --override "
            "listeners=http://127.0.0.1:8082 --override kafkastore.connection.url=localhost:2181",
            "another of the same group, left running",
        ),
    ),
    notes=(
        "Registries that name the same ZooKeeper in kafkastore.connection.url elect a leader, which alone writes; the "
        "others pass on to it what changes something. How brokers are to be reached is said as by any client, with "
        "kafkastore. before each key (kafkastore.security.protocol=SASL_SSL …). When it serves, its log has a line "
        "with `Server started, listening for requests...`.",
    ),
)
