"""`zkCli`: `zookeeper-shell` as ZooKeeper's own distribution calls it, with the server behind `-server`."""

from broker.cli.frame.declaration import Arguments, Command, Example, Option
from broker.cli.zookeeper_shell import NOTES, OPTIONS, run_shell


def run(arguments: Arguments) -> int:
    return run_shell(arguments, arguments["server"], list(arguments.words))


COMMAND = Command(
    name="zkCli",
    summary="Look at ZooKeeper's znodes, and change them, as with zookeeper-shell.",
    run=run,
    words=("command",),
    words_repeat=True,
    passes_on=True,
    runs_without_arguments=True,
    options=(
        Option("server", "Where ZooKeeper is.", "HOST:PORT,…[/CHROOT]", default="localhost:2181"),
        *OPTIONS,
    ),
    examples=(Example("zkCli -server localhost:2181 ls /brokers", "what ZooKeeper knows of brokers"),),
    notes=NOTES,
)
