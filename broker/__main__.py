"""`python -m broker COMMAND …`: one word for each kind of process. Only the chosen command's code is imported."""

import gc
import importlib
import sys
from collections.abc import Callable
from types import ModuleType

from broker import __version__
from broker.common.errors import StartupError
from broker.common.installation import import_failure
from broker.common.process_end import log_crashes, log_end

COMMANDS = {
    "server": "run a broker",
    "zookeeper": "become a ZooKeeper server",
    "connect-worker": "run a Connect worker",
    "connect-template": "write the beginning of a connector of one's own",
    "mirror-maker": "copy topics of clusters into others",
    "registry": "run a schema registry",
    "audit": "tell which windows of topics are complete, and what is missing or there twice",
    "audit-count": "count what is appended to all topics, for the audit",
    "probe": "write to every broker and read it back, again and again",
    "stream": "run a Spark stream job",
    "stream-jobs": "tell which stream jobs there are, and their parameters",
    "stream-template": "write the beginning of a stream job of one's own",
    "stream-table": "ask a table of counts that a stream job keeps",
    "stream-ledger": "tell which batches stream jobs have written",
    "dump-log": "print a segment of a log",
    "retention-preview": "tell what would be deleted from a topic",
    "diff": "show what differs between files that declare topics, rules, quotas, connectors and the cluster",
    "apply": "make the cluster as files declare it: shows the plan and asks for confirmation",
    "drift": "end with status 1 if the cluster is not as files declare it, for cron and CI",
    "export": "write today's cluster as a file that declares it",
    "api": "ask a console over its HTTP API, plan changes there and have them carried out",
    "certificates": "make an authority and certificates for brokers and clients",
}


def _run(name: str, command: Callable[[list[str]], int], argv: list[str]) -> int:
    """Run the command and return the exit status; a process that writes a log says on it that it ends, or why."""
    log_crashes()
    try:
        status = command(argv)
    except StartupError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_status
    except ModuleNotFoundError as error:  # a package that is imported only now
        complaint = import_failure(error)
        if complaint is None:
            raise
        print(f"{name}: {complaint}", file=sys.stderr)
        return StartupError.exit_status
    if not status:
        log_end(name)
    return status


def main(argv: list[str]) -> int:
    if argv and argv[0] in COMMANDS:
        gc.disable()  # of what importing makes nothing goes, and looking for it is an eighth of a broker's start
        command = _load(argv[0])
        gc.enable()
        return _run(argv[0], command.main, argv[1:])
    if argv == ["--version"]:
        print(f"barnabas {__version__}")
        return 0
    print("usage: python -m broker COMMAND [--help]\n")
    for name, meaning in COMMANDS.items():
        print(f"  {name:<19}{meaning}")
    return 0 if argv in (["--help"], ["-h"]) else 2


def _load(name: str) -> ModuleType:
    """Import a command. Without a package that it needs, leave the process with one sentence."""
    try:
        return importlib.import_module(f"broker.cli.{name.replace('-', '_')}")
    except ImportError as error:
        complaint = import_failure(error)
        if complaint is None:
            raise
        print(f"{name}: {complaint}", file=sys.stderr)
        raise SystemExit(StartupError.exit_status) from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
