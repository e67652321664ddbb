"""Clients that mean no good, each in a process of its own: `python -m tests.bench.attacks NAME AIM…`.

An attack prints `ready` when it is in place and goes on until it is killed. What an attacker's own work costs is paced,
so that on a machine with few cores it is the broker that is measured and not the scheduler.
"""

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench.attacks import bombs, connections, fetches, groups, intruders, largest, strangers, wide, znodes
from tests.bench.attacks.aim import Aim

Attack = Callable[[Aim], Iterator[None]]

#: Those that leave much behind come last.
ATTACKS: dict[str, Attack] = {
    **connections.ATTACKS,
    **bombs.ATTACKS,
    **fetches.ATTACKS,
    **strangers.ATTACKS,
    **largest.ATTACKS,
    **wide.ATTACKS,
    **groups.ATTACKS,
    **znodes.ATTACKS,
}
#: Of a broker with `doors`.
AT_DOORS: dict[str, Attack] = intruders.ATTACKS


class AttackEnded(SystemExit):
    """By itself: it could not go on, or it got in."""


@contextlib.contextmanager
def attacked(name: str, aim: Aim) -> Iterator[None]:
    """While the body runs the attack does. Raises AttackEnded."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.attacks", name, *map(str, aim)],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout.readline().strip() != "ready":
            raise AttackEnded(f"the attack “{name}” did not begin")
        yield
        if process.poll() is not None:
            raise AttackEnded(f"the attack “{name}” ended early: {process.stdout.read().strip() or process.returncode}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
