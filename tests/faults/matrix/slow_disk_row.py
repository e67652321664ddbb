"""A leader's disk that others keep busy: writes, renames and above all fsyncs take long, and none fails.

The shim of row 20 does it: a device mapper, FUSE or the io controller would slow reads and the page cache down as well,
and are not there in a container.
"""

from tests.faults.matrix.failing_disk_row import give_two_directories, is_offline
from tests.faults.matrix.foreign_hands import KeptTopic
from tests.faults.matrix.stage import Stage

_VICTIM = 1
_ROUNDS = 2


def slow_down(stage: Stage) -> None:
    """Slow is not failed: the directory stays online, writes go on later, and when it is quick again all is whole."""
    kept = KeptTopic(stage, "on-a-slow-disk", flush_messages="1", min_insync_replicas="1")
    order = give_two_directories(stage, stage.broker(_VICTIM))
    for topic in ("kept", kept.name):
        stage.lead_as_preferred(topic)
    order.write_text(f"slow {stage.broker(_VICTIM).directory}/")
    at = stage.note(f"the disks of {_VICTIM} are slow")
    for number in range(_ROUNDS):
        kept.expect_usable(f"round {number} on a slow disk")
    stage.measured["rounds on a slow disk"] = stage.note("they are quick again") - at
    for directory in stage.broker(_VICTIM).log_dirs:
        if is_offline(stage, _VICTIM, directory):
            stage.violations.append(f"{directory} was taken offline for being slow")
    order.unlink()
    stage.await_whole()
    kept.expect_usable("a slow disk")
