"""A copier as its supervisor sees it: started, killed, stopped in its tracks, and started again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_ROOT = Path(__file__).parents[3]
#: Longer than a member's session and than a transaction may take: others have gone on without it when it wakes.
_SUSPENDED_S = 12.0
_STOPS_WITHIN_S = 90


class CopierProcess:
    """A copier that is started again, until it is told to stop, whenever it has ended."""

    def __init__(self, number: int, servers: str, topics: tuple[str, str], directory: Path, seed: int):
        """It copies the first of `topics` to the second."""
        self.name = f"copier-{number}"
        self._log = directory / f"{self.name}.log"
        self._command = [sys.executable, "-m", "tests.faults.copy.copier", "--servers", servers, "--id", self.name]
        self._command += ["--source", topics[0], "--target", topics[1], "--seed", str(seed)]
        self._process: subprocess.Popen | None = None
        self._suspended_until = self._down_until = 0.0
        self.gave_up = 0

    def tend(self) -> None:
        """Start it if it does not run and need not stay away, continue it if it has been suspended long enough."""
        if self._suspended_until and time.monotonic() >= self._suspended_until:
            self._process.send_signal(signal.SIGCONT)
            self._suspended_until = 0.0
        if time.monotonic() < self._down_until:
            return
        if self._process is None or self._process.poll() is not None:
            self.gave_up += self._process is not None and self._process.returncode > 0
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(
                    self._command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=dict(os.environ)
                )

    def kill(self, stays_away_s: float = 0.0) -> None:
        """As `kill -9`."""
        self._process.kill()
        self._process.wait()
        self._suspended_until = 0.0
        self._down_until = time.monotonic() + stays_away_s

    def suspend(self) -> None:
        self._process.send_signal(signal.SIGSTOP)
        self._suspended_until = time.monotonic() + _SUSPENDED_S

    def tell_where(self) -> None:
        """Have it write into its log where it stands."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGUSR1)

    def stop(self) -> bool:
        """As SIGTERM; whether it ended well, or had been killed."""
        if self._process is None or self._process.poll() == -signal.SIGKILL:
            return True
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()
        try:
            return self._process.wait(_STOPS_WITHIN_S) == 0
        except subprocess.TimeoutExpired:
            self.kill()
            return False
