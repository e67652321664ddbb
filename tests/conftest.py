"""What every test stands on, set before Django reads it, and which worker has which tests: tests/README.md says why."""

import gc
import os
import re
import shutil
import tempfile
from collections.abc import Iterator

import django
import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.examples import newest_of
from tests.zookeeper_server import running_zookeeper

_data_directory = tempfile.mkdtemp(prefix="barnabas-test-")
for _name in [name for name in os.environ if name.startswith("BARNABAS_")]:
    del os.environ[_name]
os.environ["BARNABAS_DATA"] = _data_directory
os.environ["BARNABAS_REDIS_URL"] = "memory://"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django.setup()

#: How long an example takes is the machine's business. A gate that is red says something about the change, so it draws
#: the same examples every time; `make test-all` draws others, and four times as many.
settings.register_profile("gate", deadline=None, derandomize=True)
settings.register_profile("full", deadline=None)
settings.load_profile("gate")

#: What starts many processes, by the worker it runs in, one test after the other. Products and faults are alone with
#: each other; clusters of brokers, which mostly wait, stand beside them in two halves by name, and so do Spark and what
#: each has once.
_CROWDED = {
    "products": r"browser/|chaos/|faults/",
    "clusters": r"interop/test_[a-l]",
    "other clusters": r"interop/|broker/connect/herder/|broker/probe/test_real_cluster\.py",
    "engines": r"broker/spark/|conformance/|console/(zookeeper/test_real_ensemble|acls/test_secured_cluster)\.py",
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
    "console/access/test_hidden_names.py",
    "console/processes/test_worker.py",
)
#: Two workers more than there are cores: who has a cluster, or a page to look at, waits most of the time.
_WORKERS_MAX = 6
#: Objects. With Python's 700, looking for garbage is a tenth of what pages and syntax trees cost.
_MADE_BETWEEN_COLLECTIONS = 20_000


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory):
    """One server for whoever neither stops it nor looks at its root; each takes a chroot."""
    with running_zookeeper(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, tmp_path_factory, worker_id):
    """The console's tables are made once a run, not once a worker."""
    from tests.migrated_once import migrated_once  # reads Django's settings

    own = tmp_path_factory.getbasetemp()
    with migrated_once((own if worker_id == "master" else own.parent) / "migrated.sqlite3"):
        yield


class ByFile(LoadScopeScheduling):
    """What is crowded goes to one worker whole; all else goes by file, whose tests share fixtures."""

    def _split_scope(self, nodeid: str) -> str:
        together = _TOGETHER if nodeid.startswith(_TOGETHER) else None
        return together or _crowd_of(nodeid) or nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log) -> ByFile:
    return ByFile(config, log)


def pytest_xdist_auto_num_workers() -> int:
    return min(_WORKERS_MAX, (os.cpu_count() or 1) + 3)


def pytest_collection(session: pytest.Session) -> None:
    """Nothing of what is collected is garbage."""
    gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Of a table, the gate takes some cases. The others are not made at all: they were half of what was collected."""
    yield
    if metafunc.definition.get_closest_marker("versions"):
        metafunc._calls = newest_of(metafunc._calls, lambda call: f"{call.id}]")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first."""
    items.sort(key=lambda item: _turn_of(item.nodeid))


def pytest_collection_finish(session: pytest.Session) -> None:
    """It is there to the end: no collection during the tests has to walk through it, and there are fewer of them."""
    gc.freeze()
    gc.set_threshold(_MADE_BETWEEN_COLLECTIONS)
    gc.enable()


def _turn_of(nodeid: str) -> int:
    crowd = _crowd_of(nodeid)
    if crowd is not None:
        return list(_CROWDED).index(crowd)
    return len(_CROWDED) + (not nodeid.removeprefix("tests/").startswith(_LONGEST))


def _crowd_of(nodeid: str) -> str | None:
    path = nodeid.removeprefix("tests/")
    return next((crowd for crowd, places in _CROWDED.items() if re.match(places, path)), None)


def pytest_unconfigure() -> None:
    shutil.rmtree(_data_directory, ignore_errors=True)
