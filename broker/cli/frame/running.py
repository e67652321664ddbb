"""A command from what was typed to its exit status: the same for all, so that none shows a traceback.

Statuses are Kafka's: 1 for whatever went wrong, usage included; 130 after Ctrl-C, 143 after SIGTERM. Help is told on
stderr with status 1, because that is where scripts that probe Kafka's tools look for it.
"""

import os
import signal
import sys
from types import FrameType

from broker import __version__
from broker.cli.frame.declaration import Command, CommandError, UsageError
from broker.cli.frame.parsing import parse
from broker.common.errors import BarnabasError

_INTERRUPTED = 128 + signal.SIGINT
_TERMINATED = 128 + signal.SIGTERM


class Terminated(BaseException):
    """SIGTERM has come: what is open is closed on the way out, as after Ctrl-C."""


def run(command: Command, typed: list[str]) -> int:
    """Return the exit status. What a command prints has left when it returns."""
    if not command.takes_anything and _asks_for_help(command, typed):
        return _help(command)
    if "--version" in typed and not command.takes_anything:
        print(__version__)
        return 0
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return _run(command, typed)
    except KeyboardInterrupt:
        return _leave(_INTERRUPTED)
    except Terminated:
        return _leave(_TERMINATED)
    except BrokenPipeError:
        _abandon_stdout()
        return 0


def _asks_for_help(command: Command, typed: list[str]) -> bool:
    return "--help" in typed or typed[:1] in (["-h"], ["-help"]) or not (typed or command.runs_without_arguments)


def _run(command: Command, typed: list[str]) -> int:
    try:
        arguments, warnings = parse(command, typed)
        for sentence in warnings:
            print(f"{command.name}: {sentence}", file=sys.stderr)
        status = arguments.command.run(arguments)
        sys.stdout.flush()
        return status or 0
    except UsageError as error:
        print(f"{error}\n`{command.name} --help` lists the options.", file=sys.stderr)
        return error.status
    except CommandError as error:
        sys.stdout.flush()
        print(error, file=sys.stdout if error.on_stdout else sys.stderr)
        sys.stdout.flush()
        return error.status
    except BarnabasError as error:
        return _failed(f"{command.name}: {error}")
    except BrokenPipeError:
        raise
    except OSError as error:
        return _failed(f"{command.name}: {error.filename or 'the system'}: {error.strerror or error}")


def _failed(sentence: str) -> int:
    sys.stdout.flush()
    print(sentence, file=sys.stderr)
    return 1


def _help(command: Command) -> int:
    from broker.cli.frame.shown import help_text

    print(help_text(command), file=sys.stderr)
    return 1


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


def _leave(status: int) -> int:
    try:
        sys.stdout.flush()
    except OSError:
        _abandon_stdout()
    return status


def _abandon_stdout() -> None:
    """Discard what is left in the buffer of a closed stdout, so that Python does not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
