"""Rows and files of the embedded setup, and that what is written is what the processes read."""

import pytest

from broker.client.security.file import read_client_properties
from broker.config.broker import read_broker_config
from broker.connect.settings import DISTRIBUTED, read_settings
from broker.registry.config import read_config_file
from broker.spark.config import read_stream_config
from console.processes.embedded import managed_zookeepers, with_every_zookeeper
from console.processes.kinds.spec import SpecError
from console.processes.models import ManagedProcess
from console.processes.registry import add_process, change_process, forget_process, register
from console.processes.setup import read_setup
from console.processes.states import Desired, Request

pytestmark = pytest.mark.django_db


@pytest.fixture
def data(settings, tmp_path):
    settings.DATA_DIR, settings.LOG_DIR = tmp_path, tmp_path / "logs"
    settings.CONNECT_LOGIN_FILE = tmp_path / "secrets" / "connect-login"
    settings.ZOOKEEPER_SECRET_FILE = tmp_path / "secrets" / "zookeeper-super"
    return tmp_path


def test_rows_come_in_the_order_of_start_and_are_meant_to_run(data):
    rows = register(read_setup({}, "local[2]"))
    assert [row.name for row in rows] == [
        "zookeeper",
        "broker-1",
        "broker-2",
        "broker-3",
        "schema-registry",
        "connect",
        "access-counts",
        "probe",
    ]
    assert {row.desired for row in rows} == {Desired.RUNNING}
    assert [row.ports for row in rows] == [[2181], [9092], [9093], [9094], [8081], [8083], [], [9191]]


def test_broker_reads_the_file_we_write_with_the_operators_own_keys(data):
    file = data / "broker-2" / "server.properties"
    file.parent.mkdir()
    file.write_text("num.partitions=6\nbroker.id=77\n")
    register(read_setup({"BARNABAS_BROKER_PORT": "19092"}, "local[2]"))
    config = read_broker_config(file.read_text())
    assert (config.broker_id, config.num_partitions) == (2, 6)
    assert str(config.listeners[0]) == "PLAINTEXT://127.0.0.1:19093"
    assert config.metrics_listener == ("127.0.0.1", 19193)
    assert config.log_dirs == (str(data / "broker-2" / "data"),)


@pytest.mark.parametrize(("brokers", "replicas", "in_sync"), [("1", 1, 1), ("2", 2, 1), ("3", 3, 2), ("5", 3, 2)])
def test_topics_have_as_many_replicas_as_the_brokers_allow(data, brokers, replicas, in_sync):
    register(read_setup({"BARNABAS_BROKERS": brokers}, ""))
    config = read_broker_config((data / "broker-1" / "server.properties").read_text())
    assert config.default_replication_factor == config.offsets_topic_replication_factor == replicas
    assert config.transaction_state_log_replication_factor == replicas
    assert config.min_insync_replicas == config.transaction_state_log_min_isr == in_sync


@pytest.mark.parametrize(("brokers", "replicas"), [("1", 1), ("3", 3), ("5", 3)])
def test_worker_and_registry_read_the_files_we_write(data, brokers, replicas):
    (data / "a.txt").touch()
    register(read_setup({"BARNABAS_BROKERS": brokers, "BARNABAS_DOCUMENTS": str(data / "a.txt")}, ""))
    worker = read_settings(read_client_properties(str(data / "connect" / "connect.properties")), DISTRIBUTED)
    assert (worker.listeners, worker.config_storage_replication_factor) == (("http://127.0.0.1:8083",), replicas)
    assert str(data / "a.txt") in worker.connector_file_roots
    assert worker.logins() is not None
    registry = read_config_file(str(data / "registry" / "schema-registry.properties"), {})
    assert (registry.among.port, registry.kafkastore_topic_replication_factor) == (8081, replicas)


@pytest.mark.parametrize(
    "environment",
    [
        {"BARNABAS_CONNECT_PORT": "0", "BARNABAS_REGISTRY_PORT": "0"},
        {"BARNABAS_CONNECT": "http://elsewhere:8083", "BARNABAS_SCHEMA_REGISTRY_URL": "http://elsewhere:8081"},
        {"BARNABAS_BROKERS": "0", "BARNABAS_BOOTSTRAP_SERVERS": "elsewhere:9092", "BARNABAS_DEMO": "0"},
    ],
)
def test_neither_worker_nor_registry_is_started_where_they_are_elsewhere_or_not_wanted(data, environment):
    kinds = {row.kind for row in register(read_setup(environment, ""))}
    assert not kinds & {"connect", "registry"}


def test_the_process_that_copied_the_sources_before_is_ended_and_forgotten(data):
    old = {"kind": "connect", "is_from_setup": True, "desired": Desired.RUNNING, "spec": {"properties": {}}}
    ManagedProcess.objects.create(name="demo", pid=4711, **old)
    register(read_setup({}, ""))
    left_running = ManagedProcess.objects.get(name="demo")
    assert (left_running.desired, left_running.request) == (Desired.STOPPED, Request.STOP)
    ManagedProcess.objects.filter(name="demo").update(pid=None)
    register(read_setup({}, ""))
    assert not ManagedProcess.objects.filter(name="demo").exists()


def test_stream_job_reads_the_file_we_write(data, settings):
    settings.SPARK_MASTER = "spark://host:7077"
    register(read_setup({}, "spark://host:7077"))
    config = read_stream_config((data / "streams" / "access-counts" / "stream.properties").read_text())
    assert (config.job, config.master) == ("windowed_counts", "spark://host:7077")
    assert config.checkpoint_dir == str(data / "streams" / "access-counts")


def test_without_the_demo_its_stream_job_is_not_there(data):
    register(read_setup({}, ""))
    ManagedProcess.objects.filter(name="access-counts").update(pid=4711)
    rows = {row.name: row for row in register(read_setup({"BARNABAS_DEMO": "0"}, ""))}
    assert (rows["access-counts"].desired, rows["access-counts"].request) == (Desired.STOPPED, Request.STOP)
    assert rows["connect"].desired == Desired.RUNNING


def test_next_start_keeps_what_an_operator_stopped(data):
    register(read_setup({}, ""))
    ManagedProcess.objects.filter(name="broker-3").update(desired=Desired.STOPPED)
    rows = {row.name: row for row in register(read_setup({"BARNABAS_BROKER_PORT": "19092"}, ""))}
    assert rows["broker-3"].desired == Desired.STOPPED
    assert rows["broker-3"].ports == [19094]


def test_fewer_brokers_leave_the_list_but_not_the_disk(data):
    register(read_setup({}, ""))
    rows = register(read_setup({"BARNABAS_BROKERS": "1"}, ""))
    assert [row.name for row in rows if row.kind == "broker"] == ["broker-1"]
    assert not ManagedProcess.objects.filter(name="broker-3").exists()
    assert (data / "broker-3" / "server.properties").exists()


def test_added_process_is_a_row_with_files_and_survives_the_next_start(data):
    register(read_setup({"BARNABAS_BROKERS": "1"}, ""))
    spec = {"directory": str(data / "streams" / "clicks"), "properties": {"job": "access_counts"}}
    row = add_process("stream", "clicks", spec)
    assert row.launch.arguments == [
        "stream",
        "--config",
        str(data / "streams" / "clicks" / "stream.properties"),
    ]
    assert (row.desired, row.is_from_setup) == (Desired.STOPPED, False)
    names = [row.name for row in register(read_setup({"BARNABAS_BROKERS": "1"}, ""))]
    assert names == ["zookeeper", "broker-1", "schema-registry", "connect", "access-counts", "clicks", "probe"]


def test_changed_spec_is_written_and_started_with_next_time(data):
    row = add_process("stream", "clicks", {"directory": str(data / "s"), "properties": {"job": "one"}})
    change_process(row, {"directory": str(data / "s"), "properties": {"job": "two"}})
    assert "job=two" in (data / "s" / "stream.properties").read_text()
    row.refresh_from_db()
    assert row.spec["properties"] == {"job": "two"}


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        ("stream", "connect", "There is a process called connect already."),
        ("cron", "x", "cron is no kind of process"),
        ("stream", "a/b", "The name of a process is 1 to 60 letters"),
    ],
)
def test_row_that_cannot_be_is_refused_with_a_sentence(data, kind, name, sentence):
    register(read_setup({}, ""))
    with pytest.raises(SpecError, match=sentence):
        add_process(kind, name, {"directory": str(data / "s"), "properties": {}})


def forget(process: ManagedProcess) -> None:
    ManagedProcess.objects.filter(pk=process.pk).update(is_leaving=True)
    assert forget_process(process)


def test_removed_broker_of_the_setup_stays_away_until_it_is_added_again(data):
    rows = {row.name: row for row in register(read_setup({}, ""))}
    spec = rows["broker-3"].spec
    forget(rows["broker-3"])
    assert "broker-3" not in {row.name for row in register(read_setup({}, ""))}
    add_process("broker", "broker-3", spec)
    assert "broker-3" in {row.name for row in register(read_setup({}, ""))}


def test_brokers_connect_to_every_zookeeper_server_the_console_runs(data):
    setup = read_setup({}, "")
    register(with_every_zookeeper(setup))
    joined = {"directory": str(data / "zookeeper-2"), "client_port": 2182, "number": 2}
    add_process("zookeeper", "zookeeper-2", joined)
    register(with_every_zookeeper(setup))
    config = read_broker_config((data / "broker-1" / "server.properties").read_text())
    assert config.zookeeper_connect == "127.0.0.1:2181,127.0.0.1:2182"


def test_a_zookeeper_server_that_was_replaced_is_no_address_any_more(data):
    setup = read_setup({}, "")
    register(setup)
    add_process("zookeeper", "zookeeper-2", {"directory": str(data / "zookeeper-2"), "client_port": 2182, "number": 2})
    forget(ManagedProcess.objects.get(name="zookeeper"))
    assert with_every_zookeeper(setup).zookeeper == "127.0.0.1:2182"
    assert managed_zookeepers() == ["127.0.0.1:2182"]


def test_a_zookeeper_from_elsewhere_stays_what_brokers_connect_to(data):
    setup = read_setup({"BARNABAS_ZOOKEEPER": "zk1:2181,zk2:2181/kafka"}, "")
    assert with_every_zookeeper(setup) == setup


def test_the_super_password_is_a_file_for_its_owner_alone(data, settings):
    register(read_setup({}, ""))
    argv = ManagedProcess.objects.get(name="zookeeper").launch.arguments
    assert settings.ZOOKEEPER_SECRET_FILE.stat().st_mode & 0o777 == 0o600
    assert settings.ZOOKEEPER_SECRET_FILE.read_text().strip() not in " ".join(argv)
