"""Counts the bytecode instructions that a thread executes, which depend on the code and on Python's version alone.

Time in C, in the kernel and in waiting is not in it: a change that moves work there looks cheaper than it is.
"""

import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any


class BytecodeCounter:
    """Counts between `start` and `stop`, in the thread that calls both."""

    def __init__(self) -> None:
        self._by_code: Counter[CodeType] = Counter()

    def start(self) -> None:
        self._by_code.clear()
        sys.settrace(self._enter)

    def stop(self) -> dict[str, int]:
        """Return the counts by function, as `broker/server/dispatcher.py: Dispatcher.on_frame`."""
        sys.settrace(None)
        named: Counter[str] = Counter()
        for code, count in self._by_code.items():
            named[f"{'/'.join(code.co_filename.split('/')[-3:])}: {code.co_qualname}"] += count
        return dict(named)

    def _enter(self, frame: FrameType, _event: str, _argument: object) -> Callable[..., Any]:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame: FrameType, event: str, _argument: object) -> Callable[..., Any]:
        if event == "opcode":
            self._by_code[frame.f_code] += 1
        return self._step
