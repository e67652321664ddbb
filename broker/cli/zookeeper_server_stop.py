"""`zookeeper-server-stop`: tell the ZooKeeper servers of this machine that belong to this user to stop."""

from collections.abc import Sequence
from pathlib import PurePath

from broker.cli.frame.declaration import Arguments, Command, Example
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.servers.running_servers import running_servers, stop
from broker.zookeeper.ensemble import MAIN_CLASS


def run(arguments: Arguments) -> None:
    stopped = stop(running_servers(is_zookeeper), "zookeeper")
    if wants_json(arguments):
        print_json([{"pid": item.pid, "config": item.words[-1]} for item in stopped])


def is_zookeeper(words: Sequence[str]) -> bool:
    """Return whether the command line is a ZooKeeper server's, whoever started it, as in Kafka's script."""
    return bool(words) and PurePath(words[0]).name == "java" and MAIN_CLASS in words


COMMAND = Command(
    name="zookeeper-server-stop",
    summary="Tell the ZooKeeper servers of this machine that belong to this user to stop, and return.",
    run=run,
    runs_without_arguments=True,
    options=(OUTPUT,),
    examples=(Example("zookeeper-server-stop", "all of them"),),
    notes=(
        "One that the console runs is left alone and named, since the console would start it again; the console's page "
        "Processes stops it.",
    ),
)
