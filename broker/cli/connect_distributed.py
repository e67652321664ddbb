"""`connect-distributed`: become one of the workers that share their connectors, or leave one behind."""

from broker.cli.frame.declaration import Arguments, Command, Example
from broker.cli.servers.launching import DAEMON, start_own
from broker.common.extras import require


def run(arguments: Arguments) -> None:
    require("connect")
    start_own(arguments, ("connect-worker", "distributed", arguments.words[0]), "connectDistributed.out")


COMMAND = Command(
    name="connect-distributed",
    summary="Start a Connect worker that shares connectors with others of its group.",
    run=run,
    words=("worker.properties",),
    words_required=1,
    options=(DAEMON,),
    examples=(Example("connect-distributed config/connect-distributed.properties", "connectors are made over REST"),),
    notes=("REST listens on 127.0.0.1:8083 unless `listeners` says otherwise; workers on several hosts need it.",),
)
