"""What every test stands on: a data directory of its own and no outside service, set before Django reads it."""

import os
import shutil
import tempfile

import django

_data_directory = tempfile.mkdtemp(prefix="barnabas-test-")
for _name in [name for name in os.environ if name.startswith("BARNABAS_")]:
    del os.environ[_name]
os.environ["BARNABAS_DATA"] = _data_directory
os.environ["BARNABAS_REDIS_URL"] = "memory://"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django.setup()


def pytest_collection_modifyitems(items: list) -> None:
    """The whole product runs last, so that it does not run beside every other test."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def pytest_unconfigure() -> None:
    shutil.rmtree(_data_directory, ignore_errors=True)
