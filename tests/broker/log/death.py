"""The process dies at a chosen step: what was written, renamed or removed until then is all that is left."""

import os

#: What changes something on disk, or promises that it stays.
STEPS = ("pwrite", "replace", "rename", "unlink", "rmdir", "mkdir", "fsync", "ftruncate")


class Died(BaseException):
    """No handler of the code under test may take it for an error."""


class Death:
    """From the `at`-th step on nothing reaches the disk; a write that is hit is half done."""

    def __init__(self, monkeypatch, at: int):
        self.steps, self.is_dead = 0, False
        self._at = at
        for name in STEPS:
            monkeypatch.setattr(os, name, self._deadly(name, getattr(os, name)))

    def _deadly(self, name, real):
        def step(*args, **kwargs):
            self.steps += 1
            if self.steps < self._at:
                return None if name == "fsync" else real(*args, **kwargs)
            if name == "pwrite" and not self.is_dead:
                fd, data, position = args
                real(fd, bytes(data)[: len(data) // 2], position)
            self.is_dead = True
            raise Died

        return step
