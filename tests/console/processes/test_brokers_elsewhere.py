"""A console whose cluster's brokers run elsewhere offers no ZooKeeper and no broker to add."""

import pytest

from console.kit.access.reach import EVERYTHING
from console.shell.palette.queries import find


@pytest.fixture(autouse=True)
def _elsewhere(settings):
    settings.RUNS_BROKERS = settings.RUNS_PROCESSES = False
    settings.ZOOKEEPER = ""


def test_the_overview_shows_no_zookeeper_and_the_sidebar_no_processes(cluster, collect, operator, client_of):
    collect()
    text = client_of(operator).get("/").content.decode()
    assert "ZooKeeper" not in text
    assert "Processes and stream jobs" not in text
    assert 'href="/processes/"' not in text


def test_no_broker_is_added(operator, client_of):
    text = client_of(operator).get("/processes/").content.decode()
    assert "run elsewhere" in text
    assert "Add a broker" not in text
    assert client_of(operator).get("/processes/+add-broker/").status_code == 404


def test_the_palette_offers_none(db):
    assert "Add a broker" not in [cluster.title for cluster in find("add broker", EVERYTHING)]
