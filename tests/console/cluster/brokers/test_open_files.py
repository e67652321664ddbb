"""A broker near its limit of open files is told of before it stands still."""

import subprocess
import sys

import psutil
import pytest

from console.cluster.brokers.models import BrokerReport
from console.cluster.brokers.open_files import OpenFiles, open_files_of
from console.processes.models import ManagedProcess
from console.signals.overview.health import CrowdedBroker, HealthFacts, HealthLevel
from console.signals.overview.reasons import assess

#: Opens as many files as it may have, says so, and waits to be ended.
_HOARDER = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
kept = [open("/dev/null") for _ in range(55)]
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def hoarder():
    with subprocess.Popen([sys.executable, "-c", _HOARDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        yield psutil.Process(process.pid)
        process.kill()


def test_what_is_open_is_asked_of_the_system(hoarder):
    open_files = open_files_of(hoarder.pid, hoarder.create_time())
    assert (open_files.count, open_files.limit, open_files.is_near_limit) == (58, 64, True)


def test_of_another_process_with_the_same_number_nothing_is_known(hoarder):
    assert open_files_of(hoarder.pid, hoarder.create_time() - 60) is None
    assert open_files_of(2**22 + 1, 0) is None


def test_of_a_process_whose_start_is_not_known_nothing_is_said(collector, collect, hoarder, settings):
    collect()
    broker = {"name": "broker-1", "kind": "broker", "host": settings.HOST_NAME, "spec": {"broker_id": 1}}
    ManagedProcess.objects.create(**broker, pid=hoarder.pid, create_time=None)
    collector.look("sizes")
    assert BrokerReport.objects.get(broker_id=1).open_files is None


@pytest.mark.parametrize(("count", "is_near"), [(79, False), (80, True), (100, True)])
def test_near_is_four_fifths(count, is_near):
    assert OpenFiles(count, 100).is_near_limit is is_near


def test_health_says_how_many_and_what_helps():
    (reason,) = assess(HealthFacts(is_seen=True, controller_id=1, crowded=(CrowdedBroker(2, 3_500, 4_096),))).reasons
    assert (reason.level, reason.subject, reason.evidence) == (
        HealthLevel.WARNING,
        "Broker 2",
        "3,500 of 4,096 are open",
    )
    assert "LimitNOFILE=" in reason.action.text


def test_collector_writes_it_and_the_overview_tells(viewer, client_of, collector, collect, hoarder, settings):
    collect()
    collector.look("sizes")
    assert BrokerReport.objects.get(broker_id=1).open_files is None
    spec = {"broker_id": 1}
    broker = {"name": "broker-1", "kind": "broker", "host": settings.HOST_NAME, "spec": spec}
    ManagedProcess.objects.create(**broker, pid=hoarder.pid, create_time=hoarder.create_time())
    collector.look("sizes")
    assert BrokerReport.objects.get(broker_id=1).open_files_limit == 64
    assert "Broker 1 is near its limit of open files" in client_of(viewer).get("/").content.decode()
