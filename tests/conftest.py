"""What every test stands on: a data directory of its own and no outside service, set before Django reads it."""

import os
import shutil
import tempfile

import django
import pytest

_data_directory = tempfile.mkdtemp(prefix="barnabas-test-")
for _name in [name for name in os.environ if name.startswith("BARNABAS_")]:
    del os.environ[_name]
os.environ["BARNABAS_DATA"] = _data_directory
os.environ["BARNABAS_REDIS_URL"] = "memory://"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django.setup()


#: Folders whose tests start many processes. Each of these groups runs in one worker, one test after the other, so that
#: two cores never carry more than two clusters.
_GROUPS = {
    "browser": "product",
    "chaos": "product",
    "faults": "clusters",
    "interop": "clusters",
    "conformance": "clusters",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list) -> None:
    """Before workers read the groups. What takes long begins first; the rest is spread by file, for its fixtures."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group_of(item)))
    items.sort(key=lambda item: _group_of(item) not in ("product", "clusters"))


def _group_of(item: pytest.Item) -> str:
    folder, _, _ = item.nodeid.removeprefix("tests/").partition("/")
    return _GROUPS.get(folder, item.nodeid.partition("::")[0])


def pytest_unconfigure() -> None:
    shutil.rmtree(_data_directory, ignore_errors=True)
