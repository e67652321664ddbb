"""`schema-registry-stop`: tell the schema registries of this machine that belong to this user to stop."""

from collections.abc import Sequence
from pathlib import PurePath

from broker.cli.frame.declaration import Arguments, Command, Example
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.servers.running_servers import running_servers, stop


def run(arguments: Arguments) -> None:
    stopped = stop(running_servers(is_registry), "schema registry")
    if wants_json(arguments):
        print_json([{"pid": item.pid} for item in stopped])


def is_registry(words: Sequence[str]) -> bool:
    """Return whether the words start a registry, as `python -m broker registry …`."""
    if not words or not PurePath(words[0]).name.startswith("python"):
        return False
    return any(tuple(words[at : at + 3]) == ("-m", "broker", "registry") for at in range(1, min(4, len(words) - 1)))


COMMAND = Command(
    name="schema-registry-stop",
    summary="Tell the schema registries of this machine that belong to this user to stop, and return.",
    run=run,
    runs_without_arguments=True,
    options=(OUTPUT,),
    examples=(Example("schema-registry-stop", "a registry first answers its open requests"),),
)
