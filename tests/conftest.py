"""What every test stands on: a data directory of its own and no outside service, set before Django reads it."""

import os
import shutil
import tempfile

import django
import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

_data_directory = tempfile.mkdtemp(prefix="barnabas-test-")
for _name in [name for name in os.environ if name.startswith("BARNABAS_")]:
    del os.environ[_name]
os.environ["BARNABAS_DATA"] = _data_directory
os.environ["BARNABAS_REDIS_URL"] = "memory://"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django.setup()

#: How long an example takes is the machine's business.
settings.register_profile("gate", deadline=None)
settings.load_profile("gate")


#: Folders whose tests start many processes. Each of these groups runs in one worker, one test after the other, so that
#: two cores never carry more than two clusters, and Java starts once for all of Spark.
_GROUPS = {
    "browser": "product",
    "chaos": "product",
    "faults": "clusters",
    "interop": "clusters",
    "conformance": "clusters",
    "broker/spark": "spark",
}


class ByGroup(LoadScopeScheduling):
    """A group goes to one worker whole; all else goes by file, whose tests share fixtures."""

    def _split_scope(self, nodeid: str) -> str:
        return _group_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log) -> ByGroup:
    return ByGroup(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first."""
    items.sort(key=lambda item: _group_of(item.nodeid) not in _GROUPS.values())


def _group_of(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    return next((group for folder, group in _GROUPS.items() if file.startswith(f"tests/{folder}/")), file)


def pytest_unconfigure() -> None:
    shutil.rmtree(_data_directory, ignore_errors=True)
