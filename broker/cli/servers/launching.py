"""How the start commands start: in the foreground the command becomes the server, with -daemon it leaves it behind."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from broker.cli.frame.answers import pair
from broker.cli.frame.declaration import Arguments, Option
from broker.common.installation import module_command, with_code_path

_STDOUT, _STDERR = 1, 2
DAEMON = Option("daemon", "Return at once; the server goes on without a terminal, and tells $LOG_DIR or logs/ its log.")

OVERRIDE = Option(
    "override", "A key of its own instead of what the file says.", "KEY=VALUE", parse=pair, repeatable=True
)


def start_own(arguments: Arguments, words: Sequence[str], log_name: str) -> None:
    """Start one of this product's servers, `python -m broker WORDS…`. Its own overrides go along."""
    overrides = arguments["override"] if arguments.command.option("override") else ()
    typed = (word for key, value in dict(overrides).items() for word in ("--override", f"{key}={value}"))
    start(arguments, module_command("broker", *words, *typed), with_code_path(os.environ), log_name)


def start(arguments: Arguments, command: list[str], environment: Mapping[str, str], log_name: str) -> None:
    """Returns with -daemon only. The log goes to standard output, as that of Kafka's servers does."""
    sys.stdout.flush()
    sys.stderr.flush()
    if arguments["daemon"]:
        _leave_behind(command, environment, log_name)
    else:
        os.dup2(_STDOUT, _STDERR)
        os.execve(command[0], command, environment)


def _leave_behind(command: list[str], environment: Mapping[str, str], log_name: str) -> None:
    """Leave the server behind; several servers may share one log directory, so nothing is written over."""
    directory = Path(os.environ.get("LOG_DIR") or "logs")
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / log_name).open("ab") as log:
        subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
