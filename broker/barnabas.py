"""The command `barnabas`: one word for everything an installed Barnabas can do, from any directory.

A command of the console replaces this process by `python -m console`: a broker is started without Django, and imports
nothing of the console. All else is a command of `python -m broker`, where the broker itself is called `server`.
"""

import os
import sys

from broker import __version__
from broker.__main__ import COMMANDS
from broker.__main__ import main as run_of_broker
from broker.common.installation import module_command, with_code_path

CONSOLE_COMMANDS = {
    "up": "start everything on this machine and stay in the foreground; Ctrl-C stops it",
    "down": "end what runs here, also what a killed terminal left",
    "createsuperuser": "make a console user with all rights",
    "changepassword": "reset a console user's password",
    "verify_audit": "tell whether every row of the audit is there, as it was written",
}
#: Followed by any command of the console, Django's included.
ANY_CONSOLE_COMMAND = "console"
_NAMES_HERE = {"server": "broker"}
BROKER_COMMANDS = {_NAMES_HERE.get(name, name): meaning for name, meaning in COMMANDS.items()}


def main(argv: list[str] | None = None) -> int:
    """Run a command and return the exit status; a command of the console replaces the process instead."""
    words = sys.argv[1:] if argv is None else argv
    match words:
        case ["--version"]:
            print(f"barnabas {__version__}")
            return 0
        case [command, *_] if command in CONSOLE_COMMANDS:
            become_console(words)
        case [command, *rest] if command == ANY_CONSOLE_COMMAND:
            become_console(rest)
        case [command, *rest] if command in BROKER_COMMANDS:
            return run_of_broker(
                [next((name for name, here in _NAMES_HERE.items() if here == command), command), *rest]
            )
    print(usage())
    return 0 if words in (["--help"], ["-h"]) else 2


def become_console(words: list[str]) -> None:
    command = module_command("console", *words)
    sys.stdout.flush()
    os.execve(command[0], command, with_code_path(os.environ))


def usage() -> str:
    any_command = {f"{ANY_CONSOLE_COMMAND} COMMAND": "any other command of the console or of Django; `help` lists them"}
    lines = ["usage: barnabas COMMAND [--help]", "       barnabas --version", ""]
    for table in (CONSOLE_COMMANDS | any_command, BROKER_COMMANDS):
        lines += [*(f"  {name:<19}{meaning}" for name, meaning in table.items()), ""]
    return "\n".join(lines[:-1])
