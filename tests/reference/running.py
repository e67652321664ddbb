"""What the subjects of one run need, started when the first of them does."""

import contextlib

from tests.reference.comparison import Processes, Reference, Subject
from tests.reference.jvm import Jvm


class References:
    """The Java program and what subjects start besides; all have ended when it is closed."""

    def __init__(self) -> None:
        """Raises NotFetchedError."""
        self._stack = contextlib.ExitStack()
        self._jvm = Jvm()
        self._stack.callback(self._jvm.close)
        self._started: dict[Processes, Reference] = {}

    def of(self, subject: Subject) -> Reference:
        """Return the reference of a subject, whose `ours` can be called from now on."""
        processes = subject.processes
        if processes is None:
            return self._jvm
        if processes not in self._started:
            self._stack.enter_context(processes.ours())
            self._started[processes] = self._stack.enter_context(processes.reference(self._jvm))
        return self._started[processes]

    def close(self) -> None:
        self._stack.close()
