"""One seed, from nothing to what became of it, in this Python process."""

import os
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from tests.simulation.broker_logs import ignore_logs, record_logs
from tests.simulation.disk import Disk
from tests.simulation.kernel import simulated_kernel
from tests.simulation.scenarios import Scenario
from tests.simulation.syscalls import Syscalls
from tests.simulation.world import World

_SHARED_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None


def run_seed(
    seed: int, kept: Sequence[int] | None = None, scenario: Scenario | None = None, *, ends_at_violation: bool = False
) -> World:
    """`kept`: the numbers of the faults that are not left out. What went wrong is in the world's history."""
    disk = Disk()
    syscalls = Syscalls(disk)
    with (
        tempfile.TemporaryDirectory(dir=_SHARED_MEMORY, prefix="simulation-") as directory,
        simulated_kernel(
            seed,
            syscalls,
            lambda *what, **how: world.holdings.appended(*what, **how),
            lambda *what: world.passes.cleaned(*what),
        ),
    ):
        world = World(seed, Path(directory), disk, syscalls, scenario)
        disk.on_synced = world.holdings.synced
        record_logs(world.history, directory, world.is_in_disk_trouble, world.may_lack_offsets)
        try:
            faults = None if kept is None else [world.faults[number] for number in kept]
            world.run(faults, ends_at_violation=ends_at_violation)
        except Exception:
            world.history.violate("the run broke off: " + traceback.format_exc())
        finally:
            ignore_logs()
    return world
