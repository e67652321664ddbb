"""The start and stop commands, where they find no brokers but those they have started."""

import json

import pytest

from tests.barnabas_cluster import await_true
from tests.own_processes import needs_own_processes, own_processes
from tests.typed import typed_in_shell
from tests.zookeeper_server import four_letter_word, free_ports

pytestmark = needs_own_processes
SERVES = "started (kafka.server.KafkaServer)"


@pytest.fixture(scope="module")
def place():
    with own_processes() as place:
        yield place


@pytest.fixture
def shell(place, tmp_path):
    return lambda name, *words: typed_in_shell(name, *words, directory=tmp_path, place=place)


@pytest.fixture
def properties(tmp_path, zookeeper, name):
    path = tmp_path / "server.properties"
    path.write_text(
        f"broker.id=7\nlisteners=PLAINTEXT://127.0.0.1:{free_ports(1)[0]}\nlog.dirs={tmp_path}/logs-7\n"
        f"zookeeper.connect={zookeeper.connect}/{name}\n"
    )
    return path


def test_a_daemon_serves_is_found_by_its_file_and_stopped_by_number(shell, properties, tmp_path, place):
    overrides = ("--override", "broker.id=8", "--override", f"log.dirs={tmp_path}/logs-8")
    assert shell("kafka-server-start.sh", "-daemon", "server.properties", *overrides) == (0, "", "")
    log = tmp_path / "logs" / "kafkaServer.out"
    await_true(lambda: SERVES in log.read_text(), "the broker serves")
    assert "[KafkaServer id=8]" in log.read_text()
    assert (tmp_path / "logs-8").is_dir()
    second = shell("kafka-server-start.sh", "server.properties")
    assert second.status == 1
    assert "Address already in use" in second.out
    assert shell("kafka-server-stop.sh", "--node-id=7") == (1, "No kafka server to stop\n", "")
    (stopped,) = json.loads(shell("kafka-server-stop", "--node-id=8", "--output", "json").out)
    assert stopped["nodeId"] == 8
    await_true(lambda: "broker stopped" in log.read_text().rpartition(SERVES)[2], "the broker stopped")
    await_true(lambda: shell("kafka-server-stop").out == "No kafka server to stop\n", "it is gone")


def test_a_broker_that_the_console_runs_is_left_to_the_console(shell, properties, place, tmp_path):
    shell_of_console = type(place)(enter=(*place.enter, "env", "BARNABAS_RUN_TOKEN=0123"))
    typed_in_shell("kafka-server-start.sh", "-daemon", "server.properties", directory=tmp_path, place=shell_of_console)
    refused = shell("kafka-server-stop")
    assert refused.status == 1
    assert refused.out == "No kafka server to stop\n"
    assert "is run by the console, which would start it again" in refused.err
    assert "page Processes" in refused.err


@pytest.mark.long
def test_a_plain_zookeeper_properties_makes_a_server_and_its_stop_ends_it(shell, tmp_path):
    (port,) = free_ports(1)
    (tmp_path / "zookeeper.properties").write_text(
        f"# as documents print it\ndataDir={tmp_path}/zk\nclientPort={port}\nmaxClientCnxns=0\ntickTime=2000\n"
    )
    assert shell("zookeeper-server-start.sh", "-daemon", "zookeeper.properties") == (0, "", "")
    await_true(lambda: "Mode: standalone" in four_letter_word(port, b"srvr"), "ZooKeeper serves")
    assert f":{port}" in (tmp_path / "logs" / "zookeeper.out").read_text()
    taken = shell("zookeeper-server-start.sh", "zookeeper.properties")
    assert (taken.status, taken.out) == (1, "")
    assert f"cannot listen on *:{port}: Address already in use" in taken.err
    assert shell("zookeeper-server-stop.sh") == (0, "", "")
    await_true(lambda: shell("zookeeper-server-stop").out == "No zookeeper server to stop\n", "it is gone")
