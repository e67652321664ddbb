"""The worker as a process on a cluster: what files say arrives, and continues where it was after a restart."""

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from broker.common.clock import SystemClock
from broker.common.errors import StartupError
from broker.connect.config import read_worker_config
from broker.connect.delivery import DeliveryStopped, connect_producer
from broker.connect.offset_store import FileOffsetStore
from broker.connect.source import SourceRecord
from broker.connect.worker import ConnectorTask, ConnectWorker
from tests.barnabas_cluster import await_true
from tests.broker.connect.mock_cluster import all_records, mock_cluster
from tests.secure_broker import SecureBroker, written

_ROOT = Path(__file__).resolve().parents[3]
TOPIC = "console.access"


def access_line(number: int) -> str:
    return json.dumps({"time_ms": number, "path": f"/page/{number % 7}", "status": 200}) + "\n"


def write_config(directory: Path, bootstrap_servers: str) -> Path:
    file = directory / "connect.properties"
    file.write_text(f"""
bootstrap.servers={bootstrap_servers}
offset.storage.file.filename={directory / "offsets.json"}
connectors=access,documents,host
access.connector.class=FileSource
access.file={directory / "access.log"}
access.topic={TOPIC}
access.json.key=path
access.poll.interval.ms=20
documents.connector.class=FileSource
documents.file={directory / "not-there-yet.txt"}
documents.topic=documents.lines
host.connector.class=HostMetricsSource
host.topic=host.metrics
host.interval.ms=100
""")
    return file


@contextlib.contextmanager
def running_worker(config: Path):
    command = [sys.executable, "-m", "broker", "connect", "--config", str(config)]
    with (config.parent / "connect.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def stored_position(directory: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        stored = json.loads((directory / "offsets.json").read_text())
        return stored.get("access", {}).get(str(directory / "access.log"), {}).get("position", 0)
    return 0


def test_lines_arrive_once_and_in_order_over_a_clean_restart(tmp_path):
    log = tmp_path / "access.log"
    with mock_cluster(TOPIC, "documents.lines", "host.metrics") as cluster:
        config = write_config(tmp_path, cluster.bootstrap_servers)
        for part in range(2):
            with log.open("a") as file:
                file.writelines(access_line(number) for number in range(part * 700, part * 700 + 700))
            with running_worker(config) as worker:
                await_true(lambda: stored_position(tmp_path) == log.stat().st_size, "every line stored", 10)
                await_true(lambda: all_records(cluster.bootstrap_servers, "host.metrics"), "a measurement", 10)
                worker.send_signal(signal.SIGTERM)
                assert worker.wait(10) == 0
        records = all_records(cluster.bootstrap_servers, TOPIC)
        metrics = all_records(cluster.bootstrap_servers, "host.metrics")
    numbers = [json.loads(record.value())["time_ms"] for record in records]
    assert sorted(numbers) == list(range(1_400))
    for partition in range(4):
        in_partition = [json.loads(r.value())["time_ms"] for r in records if r.partition() == partition]
        assert in_partition == sorted(in_partition)
    assert all(json.loads(record.value())["path"].encode() == record.key() for record in records)
    assert "memory" in json.loads(metrics[0].value())


def test_killed_worker_loses_no_line(tmp_path):
    log = tmp_path / "access.log"
    with mock_cluster(TOPIC, "documents.lines", "host.metrics") as cluster:
        config = write_config(tmp_path, cluster.bootstrap_servers)
        log.write_text("".join(map(access_line, range(5_000))))
        with running_worker(config) as worker:
            await_true(lambda: stored_position(tmp_path) > 0, "something stored", 10)
            worker.send_signal(signal.SIGKILL)
            worker.wait(10)
        with running_worker(config):
            await_true(lambda: stored_position(tmp_path) == log.stat().st_size, "every line stored", 10)
        records = all_records(cluster.bootstrap_servers, TOPIC)
    assert {json.loads(record.value())["time_ms"] for record in records} == set(range(5_000))
    assert len(records) <= 5_000 + 500, "at most one poll's records come twice"


def test_offset_is_not_stored_before_the_record_is_acknowledged(tmp_path):
    """Nothing listens at the address: the worker stops when told to, and the line is still to be read."""
    store = FileOffsetStore(tmp_path / "offsets.json")
    stop = threading.Event()

    class OneLine:
        topic, poll_interval_ms = TOPIC, 10

        def poll(self, now_ms):
            threading.Timer(0.2, stop.set).start()
            return [SourceRecord(TOPIC, None, b"line", now_ms, (), "file", {"position": 5})]

    producer = connect_producer("127.0.0.1:1", "test")
    with pytest.raises(DeliveryStopped):
        ConnectorTask("access", OneLine(), store, producer, SystemClock()).transfer(stop)
    producer.purge()
    assert store.offsets_of("access") == {}


def test_worker_without_brokers_stops_when_told(tmp_path):
    (tmp_path / "access.log").write_text(access_line(1))
    config = read_worker_config(write_config(tmp_path, "127.0.0.1:1").read_text())
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    begun = time.monotonic()
    ConnectWorker(config, SystemClock()).run(stop)
    assert time.monotonic() - begun < 5
    assert stored_position(tmp_path) == 0


def test_a_worker_logs_in_as_its_client_configuration_says(tmp_path):
    with SecureBroker(mechanism="SCRAM-SHA-256", users={"connect": "sesame"}) as broker:
        file = write_config(tmp_path, broker.address)
        said = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\nsasl.username=connect\n"
        security = written(tmp_path / "client.properties", said + "sasl.password=sesame\n")
        stop = threading.Event()
        config = read_worker_config(file.read_text() + f"client.config={security}\n")
        running = threading.Thread(target=ConnectWorker(config, SystemClock()).run, args=[stop])
        running.start()
        try:
            await_true(lambda: "connect" in broker.came, "the worker to log in")
        finally:
            stop.set()
            running.join(30)
    assert "sesame" not in repr(config)


def test_a_worker_with_a_file_that_others_may_read_ends_with_a_sentence(tmp_path):
    said = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=connect\nsasl.password=sesame\n"
    security = Path(written(tmp_path / "client.properties", said))
    security.chmod(0o644)
    config = read_worker_config(write_config(tmp_path, "127.0.0.1:1").read_text() + f"client.config={security}\n")
    with pytest.raises(StartupError, match="chmod 600"):
        ConnectWorker(config, SystemClock()).run(threading.Event())
