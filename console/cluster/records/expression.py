"""Searching records by an expression in CEL (Google's Common Expression Language), which is no program: it ends.

It is evaluated in a process of its own, because one expression may still ask for more time and memory than there is.
"""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

from broker.common.extras import missing_part
from broker.common.readable import readable
from console.cluster.records.expression_child import FAILED, YES
from console.kit.gateway.records.interface import RecordView

_CHILD = Path(__file__).with_name("expression_child.py")
_START_S = 10.0
#: Of one record.
_RECORD_S = 2.0


class BadExpression(Exception):
    """What was typed cannot be evaluated; the sentence says why."""


class Expression:
    """Raises BadExpression on construction and when called. `close` ends the process."""

    def __init__(self, text: str):
        if missing := missing_part("expressions"):
            raise BadExpression(missing)
        self._failed = 0
        self._first_failure = ""
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={}, cwd="/", bufsize=0,
        )  # fmt: skip
        try:
            self._send(text.encode())
            if reason := self._reason(time.monotonic() + _START_S):
                raise BadExpression(f"The expression cannot be read: {reason}")
        except BaseException:
            self.close()
            raise

    def __call__(self, record: RecordView, key: bytes | None, value: bytes | None) -> bool:
        """Evaluate the record. `key` and `value` are decoded: JSON or text, where they are either."""
        data = key, value, record.headers, record.partition, record.offset, record.at_ms, record.size_bytes
        deadline = time.monotonic() + _RECORD_S
        self._send(pickle.dumps(data))
        answer = self._read(1, deadline)
        if answer == FAILED:
            self._failed += 1
            reason = self._reason(deadline)
            where = f"partition {record.partition} offset {record.offset}"
            self._first_failure = self._first_failure or f"the first at {where}: {reason}"
        return answer == YES

    @property
    def note(self) -> str:
        """How many records could not be evaluated; they do not match."""
        return f"could not be evaluated for {self._failed}, {self._first_failure}" if self._failed else ""

    def close(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()

    def _send(self, data: bytes) -> None:
        left = memoryview(len(data).to_bytes(4) + data)
        try:
            while left:
                left = left[os.write(self._process.stdin.fileno(), left) :]  # type: ignore[union-attr]  # it is a pipe: see __init__
        except OSError:
            raise BadExpression("The expression asks for more memory than it may have.") from None

    def _reason(self, deadline: float) -> str:
        return self._read(int.from_bytes(self._read(4, deadline)), deadline).decode(errors="replace")

    def _read(self, count: int, deadline: float) -> bytes:
        number = self._process.stdout.fileno()  # type: ignore[union-attr]  # it is a pipe: see __init__
        data = b""
        while len(data) < count:
            if not readable(number, deadline - time.monotonic()):
                raise BadExpression(f"The expression takes longer than {_RECORD_S:g} s for a record.")
            piece = os.read(number, count - len(data))
            if not piece:
                raise BadExpression("The expression asks for more memory than it may have.")
            data += piece
        return data
