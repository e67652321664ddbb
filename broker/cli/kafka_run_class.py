"""`kafka-run-class`: the command that does what a class of Kafka's does, under the name of that class."""

from broker.cli.commands import load
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example
from broker.cli.servers.class_names import COMMANDS, SERVERS, current_arguments, reason_of_absence

_USAGE = "USAGE: kafka-run-class [-daemon] [-name servicename] [-loggc] classname [opts]"


def run(arguments: Arguments) -> int:
    from broker.cli.frame.running import run as run_command

    is_daemon, words = _without_flags(list(arguments.words))
    if not words:
        raise CommandError(_USAGE, on_stdout=True)
    name, *rest = words
    if reason := reason_of_absence(name):
        raise CommandError(f"{name} cannot be started: {reason}")
    if name not in COMMANDS:
        raise CommandError(
            f"Error: Could not find or load main class {name}\nCaused by: java.lang.ClassNotFoundException: {name}"
        )
    command = COMMANDS[name]
    if is_daemon and command not in SERVERS:
        raise CommandError(f"-daemon is for servers; put & behind {command} instead.")
    return run_command(load(command), [*(["-daemon"] if is_daemon else []), *current_arguments(name, rest)])


def _without_flags(words: list[str]) -> tuple[bool, list[str]]:
    """Return whether -daemon was typed, and the words after the flags of Kafka's script, which stand before the
    class.
    """
    is_daemon = False
    while words and words[0] in ("-daemon", "-loggc", "-name"):
        flag = words.pop(0)
        is_daemon = is_daemon or flag == "-daemon"
        if flag == "-name" and words:
            words.pop(0)
    return is_daemon, words


COMMAND = Command(
    name="kafka-run-class",
    summary="Run what a class of Kafka's does, by its Scala or its org.apache.kafka.tools name.",
    run=run,
    takes_anything=True,
    examples=(
        Example(
            "kafka-run-class kafka.tools.GetOffsetShell --broker-list localhost:9092 --topic orders --time -1",
            "kafka-get-offsets, as before Kafka 3.0",
        ),
        Example(
            "kafka-run-class kafka.tools.ConsumerOffsetChecker --zookeeper localhost:2181 --group test",
            "kafka-consumer-offset-checker",
        ),
    ),
    notes=(
        "Every word behind the class goes to the command that stands for it; -daemon before the class is for servers.",
    ),
)
