"""Which tests one worker has one after the other, and which of these groups begin first; tests/README.md says why."""

import functools
import os
import re

#: What starts many processes, by the worker it runs in, one test after the other. Products and faults are alone with
#: each other; clusters of brokers, which mostly wait, stand beside them in two halves by name, and so do Connect's
#: workers, Spark and what each has once.
_CROWDED = {
    "products": r"browser/|chaos/|faults/",
    "clusters": r"interop/test_[a-l]",
    "other clusters": r"interop/",
    "engines": r"broker/(spark|connect/herder)/|broker/probe/test_real_cluster\.py|conformance/"
    r"|console/cluster/(zookeeper/test_real_ensemble|acls/test_secured_cluster)\.py",
}
#: What has every file of the product read, once for all of them.
_TOGETHER = "tests/tidy/"
#: Of all others those that take longest, so that no worker begins with one when the others are through.
_LONGEST = (
    "simulation/",
    _TOGETHER.removeprefix("tests/"),
    "fuzz/",
    "broker/log/compaction/",
    "broker/server/test_loop_watch.py",
    "broker/zookeeper/test_quota.py",
    "broker/cli/",
    "console/kit/access/test_hidden_names.py",
    "console/processes/test_worker.py",
)
#: Three workers more than there are cores: who has a cluster, or a page to look at, waits most of the time.
_WORKERS_MAX = 6


def workers() -> int:
    """As many as suit the machine."""
    return min(_WORKERS_MAX, (os.cpu_count() or 1) + 3)


def group_of(nodeid: str) -> str:
    """What is crowded goes to one worker whole; all else goes by file, whose tests share fixtures."""
    path = nodeid.partition("::")[0]
    return _TOGETHER if path.startswith(_TOGETHER) else _crowd_of(path) or path


def turn_of(nodeid: str) -> int:
    """What takes long begins first."""
    path = nodeid.partition("::")[0]
    crowd = _crowd_of(path)
    if crowd is not None:
        return list(_CROWDED).index(crowd)
    return len(_CROWDED) + (not path.removeprefix("tests/").startswith(_LONGEST))


@functools.cache
def _crowd_of(path: str) -> str | None:
    """Return the crowd of a file, None if it is in none. The process that collects asks 200,000 times."""
    path = path.removeprefix("tests/")
    return next((crowd for crowd, places in _CROWDED.items() if re.match(places, path)), None)
