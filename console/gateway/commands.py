"""A change as a command line, made of the command's own declaration: none is shown that would be refused."""

from collections.abc import Mapping

from broker.cli.commands import load
from broker.cli.frame.declaration import command_line


def shell_command(name: str, bootstrap_servers: str, options: Mapping[str, object]) -> str:
    """`name` with its options, values quoted; a flag is True, and one that is False or None is left out.

    KeyError for a command or an option that does not exist. Its name ends as in Kafka's own bin/.
    """
    given = {option: value for option, value in options.items() if value is not None and value is not False}
    line = command_line(load(name), {"bootstrap-server": bootstrap_servers, **given})
    return f"{name}.sh{line.removeprefix(name)}"
