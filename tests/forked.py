"""The gate's workers are forks of one pytest that has read all tests: `-p tests.forked --forks auto`.

A worker of xdist reads them all by itself, 14 s of CPU each, before it runs the first. A fork has them, and whatever
they import, in memory that it shares with the others. Numbers of groups (`groups.py`) wait in a pipe, from which a
worker takes the next one when it comes to its last test; what becomes of a test it tells through a pipe of its own.
"""

import os
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, Pipe, wait

import pytest

from tests.forked_worker import be_worker
from tests.groups import group_of, workers

#: Of the number of a group in the pipe.
_NUMBER_BYTES = 4
_GROUPS_TOLD = 8


class Hooks:
    def pytest_forked(self, name: str) -> None:
        """In each worker, before its first test: what it must have for itself."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--forks", help="how many forks of who has collected the tests run them; auto: as suits the machine"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.option.forks:
        count = workers() if config.option.forks == "auto" else int(config.option.forks)
        config.pluginmanager.register(Forks(count), "forks")


class Forks:
    """In the process that has collected: plugins are told of each test as if it had run here."""

    def __init__(self, count: int):
        self._count = count
        #: Of each group, since the first test began: when its own first one did, and when its last one was over.
        self._ran: dict[str, tuple[float, float]] = {}
        self._progress = Progress(0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly:
            return None  # pytest's own loop says why nothing is run
        groups = grouped(session.items)
        waiting = _pipe_of(range(len(groups)))
        session.config._tmp_path_factory.getbasetemp()  # of which each worker's is a part
        forks = [_forked(number, session, groups, waiting) for number in range(self._count)]
        unheard = {item.nodeid for item in session.items}
        self._progress = Progress(len(unheard))
        try:
            for kind, message in _heard([hears for _, hears in forks]):
                unheard.discard(self._pass_on(session.config, kind, message))
        finally:
            for pid, _ in forks:
                os.waitpid(pid, 0)
        for nodeid in sorted(unheard):
            session.config.hook.pytest_runtest_logreport(report=_lost(nodeid))
        return True

    def _pass_on(self, config: pytest.Config, kind: str, message: dict) -> str | None:
        """The test that is over."""
        if kind == "warning":
            config.hook.pytest_warning_recorded.call_historic(kwargs=message)
            return None
        if kind == "passed":
            return [self._hear(config, report) for report in _passed(message)][-1]
        return self._hear(config, config.hook.pytest_report_from_serializable(config=config, data=message))

    def _hear(self, config: pytest.Config, report: pytest.TestReport) -> str | None:
        config.hook.pytest_runtest_logreport(report=report)
        began, ended = self._ran.get(group_of(report.nodeid), (report.start, report.stop))
        self._ran[group_of(report.nodeid)] = min(began, report.start), max(ended, report.stop)
        if report.when != "teardown":
            return None
        if line := self._progress.after_one_more():
            config.get_terminal_writer().line(line)
            config.get_terminal_writer().flush()
        return report.nodeid

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Count what passed or was skipped without a letter: twenty thousand of them are no news."""
        if hasattr(report, "wasxfail") or report.failed:
            return None
        if report.skipped:
            return "skipped", "", "SKIPPED"
        return ("passed", "", "PASSED") if report.when == "call" else ("", "", "")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Whom all wait for at the end, and who could have begun later."""
        first = min((began for began, _ in self._ran.values()), default=0.0)
        if not terminalreporter.config.option.durations:
            return
        longest = sorted(self._ran.items(), key=lambda item: item[1][0] - item[1][1])[:_GROUPS_TOLD]
        terminalreporter.section("longest groups")
        for name, (began, ended) in longest:
            terminalreporter.line(f"{began - first:4.0f} s to {ended - first:4.0f} s  {name}")


class Progress:
    """Of `total` tests: a line whenever another tenth of them is over."""

    def __init__(self, total: int):
        self._total, self._done = total, 0
        self._began = time.monotonic()

    def after_one_more(self) -> str | None:
        before, self._done = self._done * 10 // self._total, self._done + 1
        tenths = self._done * 10 // self._total
        if tenths == before:
            return None
        return f"tests {tenths * 10:4d} %  {self._done:,} of {self._total:,}  {time.monotonic() - self._began:.0f} s"


def grouped(items: Iterable[pytest.Item]) -> list[list[pytest.Item]]:
    """In the order in which the first of each group came."""
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(group_of(item.nodeid), []).append(item)
    return list(groups.values())


def _pipe_of(numbers: Iterable[int]) -> int:
    """Where they are read, by whoever comes first; then nothing."""
    reads, writes = os.pipe()
    os.write(writes, b"".join(number.to_bytes(_NUMBER_BYTES) for number in numbers))
    os.close(writes)
    return reads


def taken(groups: list[list[pytest.Item]], waiting: int) -> Iterator[pytest.Item]:
    while number := os.read(waiting, _NUMBER_BYTES):
        yield from groups[int.from_bytes(number)]


def _forked(
    number: int, session: pytest.Session, groups: list[list[pytest.Item]], waiting: int
) -> tuple[int, Connection]:
    hears, tells = Pipe(duplex=False)
    pid = os.fork()
    if pid == 0:
        be_worker(f"gw{number}", session, taken(groups, waiting), tells.send)
    tells.close()
    return pid, hears


def _heard(connections: list[Connection]) -> Iterator[tuple]:
    """Until the last has ended, or died."""
    while connections:
        for connection in wait(connections):
            try:
                yield connection.recv()
            except EOFError:
                connections.remove(connection)


def _passed(message: dict) -> Iterator[pytest.TestReport]:
    nodeid = message["nodeid"]
    location = (nodeid.partition("::")[0], None, nodeid)
    for when, start, stop in message["phases"]:
        yield pytest.TestReport(nodeid, location, {}, "passed", None, when, (), stop - start, start, stop)


def _lost(nodeid: str) -> pytest.TestReport:
    """A test of which nobody has heard the end is no test that passed."""
    reason = "The worker that had it died, or could not go on."
    return pytest.TestReport(nodeid, (nodeid.partition("::")[0], None, nodeid), {}, "failed", reason, "call")
