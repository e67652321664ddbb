"""`kafka-server-stop`: tell the brokers of this machine that belong to this user to stop."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path, PurePath

from broker.cli.frame.declaration import Arguments, Command, Example, Option
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.servers.running_servers import RunningServer, running_servers, stop
from broker.config.properties import parse_properties

_BROKER, _CONTROLLER = "broker", "controller"
_ID_KEYS = ("node.id", "broker.id")


def run(arguments: Arguments) -> None:
    servers = running_servers(is_broker)
    if arguments.given("node-id"):
        servers = [server for server in servers if node_id(server) == arguments["node-id"]]
    if arguments["process-role"] == _CONTROLLER:
        servers = []
    note = stop(servers, "kafka")
    if wants_json(arguments):
        print_json([{"pid": item.pid, "nodeId": node_id(item)} for item in note])


def is_broker(words: Sequence[str]) -> bool:
    """Return whether the words start a broker: `python -m broker server …`, or an installed `barnabas broker …`."""
    return _broker_arguments(words) is not None


def _broker_arguments(words: Sequence[str]) -> Sequence[str] | None:
    """Return the words of the command line that belong to the broker itself; None if it is no broker's."""
    if not words or not PurePath(words[0]).name.startswith("python"):
        return None
    for at in range(1, min(4, len(words) - 1)):
        if tuple(words[at : at + 3]) == ("-m", "broker", "server"):
            return words[at + 3 :]
        if PurePath(words[at]).name == "barnabas" and words[at + 1] == "broker":
            return words[at + 2 :]
    return None


def node_id(server: RunningServer) -> int | None:
    """Return the id the broker reports, else that of its file; None if neither can be read."""
    words = _broker_arguments(server.words) or ()
    overrides = dict(text.partition("=")[::2] for text in _values(words, "--override"))
    try:
        pairs = parse_properties(Path(server.directory, *_values(words, "--config")).read_text()) | overrides
        return next((int(pairs[key]) for key in _ID_KEYS if key in pairs), None)
    except (OSError, ValueError):
        return None


def _values(words: Sequence[str], name: str) -> list[str]:
    following = [value for word, value in pairwise(words) if word == name]
    return following + [word.partition("=")[2] for word in words if word.startswith(f"{name}=")]


COMMAND = Command(
    name="kafka-server-stop",
    summary="Tell the brokers of this machine that belong to this user to stop, and return.",
    run=run,
    runs_without_arguments=True,
    options=(
        OUTPUT,
        Option("node-id", "Only the broker of this number (broker.id).", "N", parse=int),
        Option(
            "process-role",
            "Only processes of this role; every broker here can be the controller, and none is that alone.",
            "ROLE",
            choices=(_BROKER, _CONTROLLER),
        ),
    ),
    examples=(
        Example("kafka-server-stop", "all of them"),
        Example("kafka-server-stop --node-id=2", "one of them"),
        Example("SIGNAL=KILL kafka-server-stop --node-id=2", "one of them, as if it had crashed"),
    ),
    notes=(
        "The command does not wait until they have stopped: a broker first hands its leaderships over. One that "
        "the console runs is "
        "left alone and named, since the console would start it again; the console's page Processes stops it.",
    ),
)
