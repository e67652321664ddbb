"""`connect-standalone`: become a Connect worker that shares nothing, or leave one behind."""

from broker.cli.frame.declaration import Arguments, Command, Example
from broker.cli.servers.launching import DAEMON, start_own
from broker.common.extras import require


def run(arguments: Arguments) -> None:
    require("connect")
    start_own(arguments, ("connect-worker", "standalone", *arguments.words), "connectStandalone.out")


COMMAND = Command(
    name="connect-standalone",
    summary="Start a Connect worker with connectors of its own.",
    run=run,
    words=("worker.properties", "connector.properties"),
    words_required=1,
    words_repeat=True,
    options=(DAEMON,),
    examples=(
        Example(
            "connect-standalone config/connect-standalone.properties config/connect-file-source.properties "
            "config/connect-file-sink.properties",
            "lines of test.txt into the topic connect-test, and from there into test.sink.txt",
        ),
    ),
    notes=(
        "A connector's file is properties or JSON: its configuration, or `{name, config, initial_state}`. REST "
        "listens on 127.0.0.1:8083 unless `listeners` says otherwise. Statuses: 2 when it cannot start, 3 when a "
        "connector cannot be made.",
    ),
)
