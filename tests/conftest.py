"""What every test stands on, set before Django reads it."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import django
import pytest
import structlog
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests import warm_start
from tests.examples import newest_of
from tests.groups import group_of, turn_of, workers
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
settings.register_profile("gate", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("full", deadline=None, max_examples=100)
settings.load_profile("gate")

#: Fixtures that Django's plugin puts around each test, by the mark without which they do nothing. Those without a mark
#: serve `TestCase`, `live_server`, sites and mails, which no test uses; `mailoutbox` still clears its mails.
_OF_A_MARK = {
    "_django_db_marker": "django_db",
    "_django_set_urlconf": "urls",
    "_django_isolate_apps": "django_isolate_apps",
    "_template_string_if_invalid_marker": "ignore_template_errors",
    "_live_server_helper": "",
    "_django_setup_unittest": "",
    "_django_clear_site_cache": "",
    "_dj_autoclear_mailbox": "",
}
#: Objects. With Python's 700, looking for garbage is a tenth of what pages and syntax trees cost.
_MADE_BETWEEN_COLLECTIONS = 20_000
_log_settings: tuple[object, ...] = ()


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory):
    """One server for whoever neither stops it nor looks at its root; each takes a chroot."""
    with running_zookeeper(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


@pytest.fixture(scope="module")
def apache_kafka(tmp_path_factory) -> Iterator[str]:
    """The bootstrap servers of one broker of the newest Apache Kafka. For long tests: it may have to be fetched."""
    from tests.apache_kafka import running_kafka  # loads librdkafka

    with running_kafka(tmp_path_factory.mktemp("apache-kafka")) as servers:
        yield servers


@pytest.fixture(scope="session")
def _kept_tables(tmp_path_factory, worker_id) -> Path:
    own = tmp_path_factory.getbasetemp()
    return (own if worker_id == "master" else own.parent) / "migrated.sqlite3"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, _kept_tables):
    """The console's tables are made once a run, not once a worker."""
    from tests.migrated_once import migrated_once  # reads Django's settings

    with migrated_once(_kept_tables):
        yield


@pytest.fixture
def tables(django_db_setup, _kept_tables) -> Path:
    """A console's database as `migrate` leaves it, to be copied."""
    return _kept_tables


class ByFile(LoadScopeScheduling):
    """Workers of xdist (`-n 2`) have the same tests together as those of the gate (`forked.py`)."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log) -> ByFile:
    return ByFile(config, log)


def pytest_xdist_auto_num_workers() -> int:
    return workers()


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
    """What takes long begins first, and nothing is done for Django where it is not."""
    items.sort(key=lambda item: turn_of(item.nodeid))
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        item.fixturenames = [name for name in item.fixturenames if _OF_A_MARK.get(name, name) in (name, *marks)]


def pytest_collection_finish(session: pytest.Session) -> None:
    """It is there to the end: no collection during the tests has to walk through it, and there are fewer of them."""
    gc.freeze()
    gc.set_threshold(_MADE_BETWEEN_COLLECTIONS)
    gc.enable()
    global _log_settings
    _log_settings = _current_log_settings()
    warm_start.begin()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Fail the test that leaves the log elsewhere, and not those after it in the same process."""
    yield
    if _current_log_settings() != _log_settings:
        structlog.reset_defaults()
        pytest.fail("the test left structlog configured: its later lines would not be seen by other tests")


def _current_log_settings() -> tuple[object, ...]:
    config = structlog.get_config()
    return (
        [type(processor) for processor in config["processors"]],
        config["logger_factory"],
        config["cache_logger_on_first_use"],
    )


@pytest.hookimpl(optionalhook=True)
def pytest_forked(name: str) -> None:
    from tests.own_data import keep_data_in  # reads Django's settings

    keep_data_in(Path(_data_directory) / name)


def pytest_unconfigure() -> None:
    shutil.rmtree(_data_directory, ignore_errors=True)
