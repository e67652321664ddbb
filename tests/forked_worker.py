"""One of the workers of `forked.py`: a fork that runs tests and prints nothing of them."""

import functools
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator

import pytest
from _pytest.capture import FDCapture, MultiCapture
from _pytest.config import create_terminal_writer

PassedPhase = tuple[str, float, float]


class Telling:
    """What plugins of the process that collected have to know."""

    def __init__(self, config: pytest.Config, tell: Callable[[tuple], None]):
        self._config = config
        self._tell = tell
        #: Phases of the running test that have passed: name, start and end.
        self._passed: list[PassedPhase] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Send the phases that passed in one message when the test ends, everything else at once and whole.

        Of a test that passed, three serialized reports say no more.
        """
        passed = report.passed and not hasattr(report, "wasxfail")
        if passed:
            self._passed.append((report.when, report.start, report.stop))
        if report.when == "teardown" and self._passed:
            self._tell(("passed", {"nodeid": report.nodeid, "phases": self._passed}))
            self._passed = []
        if not passed:
            data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
            self._tell(("report", data))

    def pytest_warning_recorded(self, warning_message, when: str, nodeid: str, location) -> None:
        if when != "runtest":
            return  # they have been told there
        origin = (warning_message.category, warning_message.filename, warning_message.lineno)
        # Its text alone: what else an exception holds need not be anything that can be sent.
        warning = warnings.WarningMessage(str(warning_message.message), *origin)
        self._tell(("warning", {"warning_message": warning, "when": when, "nodeid": nodeid, "location": location}))


def be_worker(name: str, session: pytest.Session, items: Iterator[pytest.Item], tell: Callable[[tuple], None]) -> None:
    """Runs the tests, and is the end of this process."""
    status = 1
    try:
        _settle(name, session.config)
        # pytest asks for it thirty times a test, and each time compares the hooks of all conftest files.
        session.gethookproxy = functools.cache(session.gethookproxy)
        session.config.pluginmanager.register(Telling(session.config, tell))
        session.config.hook.pytest_forked(name=name)
        _run(session, items)
        status = 0
    except KeyboardInterrupt:
        pass  # who collected was interrupted too, and says so
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        sys.__stderr__.flush()
        os._exit(status)


def _run(session: pytest.Session, items: Iterator[pytest.Item]) -> None:
    try:
        item = next(items, None)
        while item is not None:
            following = next(items, None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            item = following
    finally:
        session._setupstate.teardown_exact(None)


def _settle(name: str, config: pytest.Config) -> None:
    """What pytest has of a process for itself: a name, the files that catch what is printed, a directory."""
    config.workerinput = {"workerid": name}  # where plugins that know xdist look for it
    _catch_apart(config.pluginmanager.get_plugin("capturemanager")._global_capturing)
    silent = open(os.devnull, "w")  # noqa: SIM115
    config.pluginmanager.get_plugin("terminalreporter")._tw = create_terminal_writer(config, silent)
    temporary = config._tmp_path_factory
    temporary._basetemp = temporary.getbasetemp() / name
    temporary._basetemp.mkdir(mode=0o700)


def _catch_apart(capturing: MultiCapture) -> None:
    """The files into which it catches become others, under the descriptors that log handlers hold already."""
    for item in (capturing.out, capturing.err):
        if isinstance(item, FDCapture):
            with tempfile.TemporaryFile() as own:
                os.dup2(own.fileno(), item.tmpfile.fileno(), inheritable=False)
