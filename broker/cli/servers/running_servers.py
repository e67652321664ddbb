"""What the stop commands share: which servers of this user run on this machine, and a signal to each.

A server that the console runs is left alone: the console would start it again.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from broker.cli.frame.declaration import CommandError, UsageError
from broker.common.installation import RUN_TOKEN_VARIABLE


@dataclass(frozen=True, slots=True)
class RunningServer:
    """`directory` is where it works, on which its relative paths stand."""

    pid: int
    words: tuple[str, ...]
    directory: str
    is_managed: bool


def running_servers(is_one: Callable[[Sequence[str]], bool]) -> list[RunningServer]:
    """Return the servers of this user whose command line satisfies `is_one`."""
    import psutil

    servers = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.uids().effective == os.geteuid() and is_one(words := process.cmdline()):
                managed = RUN_TOKEN_VARIABLE in process.environ()
                servers.append(RunningServer(process.pid, tuple(words), process.cwd(), managed))
    return servers


def stop(servers: list[RunningServer], noun: str) -> list[RunningServer]:
    """Send each server a stop signal without waiting, and return those servers. CommandError if there is none."""
    number = _signal_number()
    stopped = list(_signalled(servers, number))
    for server in servers:
        if server.is_managed:
            print(
                f"{noun} server {server.pid} is run by the console, which would start it again: stop it on the page "
                "Processes, or everything with `barnabas down`.",
                file=sys.stderr,
            )
    if not stopped:
        raise CommandError(f"No {noun} server to stop", on_stdout=True)
    return stopped


def _signalled(servers: list[RunningServer], number: int) -> Iterator[RunningServer]:
    for server in servers:
        if not server.is_managed:
            with suppress(ProcessLookupError):
                os.kill(server.pid, number)
                yield server


def _signal_number() -> int:
    """Return the signal; Kafka's scripts take another than TERM from the environment."""
    text = os.environ.get("SIGNAL", "TERM").upper().removeprefix("SIG")
    try:
        return int(text) if text.isdecimal() else signal.Signals[f"SIG{text}"]
    except KeyError:
        raise UsageError(f"SIGNAL={text} is no signal") from None
