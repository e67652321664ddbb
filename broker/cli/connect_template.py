"""`python -m broker connect-template NAME --kind source|sink`: a project to begin a connector of one's own with."""

import argparse
from pathlib import Path

from broker.common.errors import StartupError
from broker.connect.template import KINDS, is_plugin_name, project


def main(argv: list[str]) -> int:
    """Return 0 when the project was written; raises StartupError when it is there already or cannot be written."""
    parser = argparse.ArgumentParser(prog="broker connect-template", description="Write the beginning of a connector.")
    parser.add_argument("name", help="lower-case letters, digits and _; the project's name and its module's")
    parser.add_argument("--kind", choices=sorted(KINDS), default="source", help="what it does (%(default)s)")
    parser.add_argument("--directory", type=Path, default=Path(), metavar="DIR", help="where to (the current one)")
    arguments = parser.parse_args(argv)
    if not is_plugin_name(arguments.name):
        raise StartupError(
            f"{arguments.name} cannot be its name: lower-case letters, digits and _, and no taken module."
        )
    home = arguments.directory / arguments.name
    try:
        home.mkdir(parents=True)
        for place, text in project(arguments.name, arguments.kind).items():
            (home / place).parent.mkdir(exist_ok=True)
            (home / place).write_text(text)
    except OSError as error:
        raise StartupError(f"{home} cannot be written: {error.strerror}.") from error
    print(f"{home} is written: `python -m pytest` in it runs its test, its README says how a worker gets it.")
    return 0
