"""What every test stands on: a data directory of its own and no outside service, set before Django reads it."""

import os
import shutil
import tempfile

import django
import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

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

#: Folders whose tests start many processes. They run in one worker, one test after the other: two cores never carry
#: more than one cluster, or Spark, which gives a Python worker no more than ten seconds to start.
_CROWDED = ("browser", "chaos", "faults", "interop", "conformance", "broker/spark")


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory):
    """One server for whoever neither stops it nor looks at its root; each takes a chroot."""
    with running_zookeeper(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


class ByFile(LoadScopeScheduling):
    """What is crowded goes to one worker whole; all else goes by file, whose tests share fixtures."""

    def _split_scope(self, nodeid: str) -> str:
        return "crowded" if _is_crowded(nodeid) else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first."""
    items.sort(key=lambda item: not _is_crowded(item.nodeid))


def _is_crowded(nodeid: str) -> bool:
    return nodeid.startswith(tuple(f"tests/{folder}/" for folder in _CROWDED))


def pytest_unconfigure() -> None:
    shutil.rmtree(_data_directory, ignore_errors=True)
