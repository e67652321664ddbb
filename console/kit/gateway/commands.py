"""A change as a command line, made of the command's own declaration: none is shown that would be refused."""

from collections.abc import Mapping
from pathlib import Path

from broker.cli.commands import load
from broker.cli.frame.declaration import Command, command_line
from console.kit.gateway.connect import client_config_in_use

_CONFIG_OPTIONS = ("command-config", "admin.config")


def shell_command(name: str, bootstrap_servers: str, options: Mapping[str, object], subcommand: str = "") -> str:
    """Return `name` with its options, values quoted; a flag is True, and one that is False or None is left out.

    With a `subcommand` they are its options. KeyError for a command or an option that does not exist. Its name ends as
    in Kafka's own bin/.
    """
    command = load(name)
    given = {option: value for option, value in options.items() if value is not None and value is not False}
    connection = {"bootstrap-server": bootstrap_servers, **_client_config(command)}
    line = command_line(command, connection if subcommand else {**connection, **given})
    if subcommand:
        by_name = {inner.name: inner for inner in command.subcommands}
        line = f"{line} {command_line(by_name[subcommand], given)}"
    return f"{name}.sh{line.removeprefix(name)}"


def _client_config(command: Command) -> dict[str, str]:
    """Return the option that names the console's client file: a person who may read it has the console's login."""
    options = (command.option(name) for name in _CONFIG_OPTIONS)
    option = next((option for option in options if option is not None), None)
    path = client_config_in_use()
    return {option.name: _short(path)} if option and path else {}


def _short(path: str) -> str:
    """Return the path relative to the start directory."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
