"""`zookeeper-shell`: one command to ZooKeeper, or as many as are typed; what it prints is ZooKeeper's own shell's."""

import asyncio
import logging
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.frame.zookeeper import ZK_TLS, ZooKeeperAccess

_CONNECT_TIMEOUT_MS = 10_000
_COMMAND_TIMEOUT_S = 60.0
_NO_TEXT = "What was typed is no UTF-8."
_PROMPT_WORDS = "Welcome to ZooKeeper!\nJLine support is {}"


def run(arguments: Arguments) -> int:
    server, *words = arguments.words
    return run_shell(arguments, server, words)


def run_shell(arguments: Arguments, server: str, words: list[str]) -> int:
    """Return the status of the last command. Raises UsageError, CommandError."""
    _refuse_no_text(server)
    hosts, slash, path = server.partition("/")
    if not hosts:
        raise UsageError(f"{server} names no server; valid is host:port[/path]")
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    session = ZooKeeperAccess(hosts, tls_file=arguments["zk-tls-config-file"] or "").session(arguments["timeout"])
    shell = _Shell(arguments, session, server, (slash + path).rstrip("/"))
    with asyncio.Runner() as runner:
        shell.say(f"Connecting to {server}")
        runner.run(session.connect(_CONNECT_TIMEOUT_MS))
        try:
            return shell.do_one(runner, words) if words else shell.do_all(runner)
        finally:
            runner.run(session.close())


class _Shell:
    """What is typed, one command after the other."""

    def __init__(self, arguments: Arguments, session: Any, server: str, chroot: str):
        from broker.cli.servers.znode_commands import Znodes

        self._is_json = wants_json(arguments)
        self._session = session
        self._server = server
        self._znodes = Znodes(session, chroot)
        self._history: list[str] = []

    def say(self, text: str) -> None:
        """Print a message that is not output for a program."""
        if not self._is_json:
            print(text, flush=True)

    def do_one(self, runner: asyncio.Runner, words: list[str]) -> int:
        from broker.cli.servers.znode_lines import CONNECTED

        self.say(CONNECTED)
        return self._do(runner, words)

    def do_all(self, runner: asyncio.Runner) -> int:
        from broker.cli.servers.znode_lines import CLOSED, CONNECTED

        is_person = sys.stdin.isatty() and sys.stdout.isatty()
        self.say(_PROMPT_WORDS.format("enabled" if is_person else "disabled"))
        self.say(CONNECTED)
        status = 0
        for line in self._lines(is_person):
            if line.strip() == "quit":
                self.say(CLOSED)
                return 0
            status = self._do_line(runner, line)
        return status

    def _lines(self, is_person: bool) -> Iterator[str]:
        """Yield lines that are not empty."""
        if is_person:
            import readline  # noqa: F401  input() edits its line and knows earlier ones
        while True:
            try:
                line = input(self._prompt() if is_person else "")
            except EOFError:
                return
            except UnicodeDecodeError:
                raise CommandError(_NO_TEXT) from None
            if line.strip():
                self._history.append(line)
                yield line

    def _prompt(self) -> str:
        from broker.zookeeper.session import SessionState

        state = "CONNECTED" if self._session.state is SessionState.CONNECTED else "CONNECTING"
        return f"[zk: {self._server}({state}) {len(self._history)}] "

    def _do_line(self, runner: asyncio.Runner, line: str) -> int:
        try:
            return self._do(runner, shlex.split(line))
        except (CommandError, ValueError) as error:
            print(error, file=sys.stderr, flush=True)
            return error.status if isinstance(error, CommandError) else 1

    def _do(self, runner: asyncio.Runner, words: list[str]) -> int:
        from broker.cli.servers.znode_commands import ZnodeOutput, answer, usage

        _refuse_no_text(*words)
        match words:
            case ["help"]:
                output = ZnodeOutput([usage()], usage(), on_stderr=True)
            case ["history"]:
                output = ZnodeOutput([f"{at} - {line}" for at, line in enumerate(self._history)], self._history)
            case ["quit"]:
                from broker.cli.servers.znode_lines import CLOSED

                self.say(CLOSED)
                return 0
            case _:
                output = runner.run(_in_time(answer(self._znodes, words)))
        if self._is_json:
            print_json(output.value)
        elif output.lines:
            print("\n".join(output.lines), file=sys.stderr if output.on_stderr else sys.stdout, flush=True)
        return 0


async def _in_time(answering: Any) -> Any:
    try:
        async with asyncio.timeout(_COMMAND_TIMEOUT_S):
            return await answering
    except TimeoutError:
        raise CommandError(f"ZooKeeper did not answer within {_COMMAND_TIMEOUT_S:g} s.") from None


def _refuse_no_text(*words: str) -> None:
    """Refuse bytes that are no UTF-8: they arrive as surrogates, which end kazoo's thread."""
    if any("\ud800" <= letter <= "\udfff" for word in words for letter in word):
        raise CommandError(_NO_TEXT)


def _session_timeout(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError("it must be greater than 0")
    return number


OPTIONS = (
    OUTPUT,
    Option("timeout", "Silence after which ZooKeeper ends the session, in ms.", "MS", _session_timeout, 30_000),
    ZK_TLS,
    Option("client-configuration", "", "FILE", without_effect="this shell is no Java client."),
    Option("waitforconnection", "", without_effect="commands wait for the connection.", older=("w",)),
    Option("readonly", "", without_effect="it speaks to servers that have a quorum.", older=("r",)),
)
NOTES = (
    "Commands: addauth, create, delete, deleteall, get, getAllChildrenNumber, help, history, ls, quit, set, stat, "
    "sync; `help` tells how each is typed. Without one they are read from standard input, one a line, with a "
    "prompt where a person types. What is printed is what ZooKeeper 3.9's shell prints, so the answer comes last; what "
    "is refused is told on stderr with status 1, or 127 for what is no command. Watches (-w) are not kept.",
)


COMMAND = Command(
    name="zookeeper-shell",
    summary="Look at ZooKeeper's znodes, and change them.",
    run=run,
    words=("zookeeper_host:port[/path]", "command"),
    words_required=1,
    words_repeat=True,
    passes_on=True,
    options=OPTIONS,
    examples=(
        Example("zookeeper-shell localhost:2181 ls /brokers/ids", "the brokers that are registered"),
        Example("zookeeper-shell localhost:2181/kafka get /controller", "in a cluster that has a path of its own"),
        Example("zookeeper-shell localhost:2181", "a prompt"),
    ),
    notes=NOTES,
)
