"""`connect-distributed`: become one of the workers that share their connectors, or leave one behind."""

import os

from broker.cli.frame.declaration import Arguments, Command, Example
from broker.cli.servers.launching import DAEMON, start
from broker.common.installation import module_command, with_code_path


def run(arguments: Arguments) -> None:
    command = module_command("broker", "connect-worker", "distributed", arguments.words[0])
    start(arguments, command, with_code_path(os.environ), "connectDistributed.out")


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
