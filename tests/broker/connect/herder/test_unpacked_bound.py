"""A batch that unpacks to more than a sink may hold ends its task alone, or is left out, as `errors.tolerance` says."""

from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from broker.common.limits import DECOMPRESSED_BYTES_MAX
from broker.records.batch import Compression
from tests.barnabas_cluster import await_true
from tests.broker.connect.herder.test_distributed import Workers, properties, put
from tests.produced_batches import append_batch

_TEXT = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}


@pytest.fixture
def worker(cluster, tmp_path):
    workers = Workers(cluster, tmp_path, "unpacked", properties(cluster, "unpacked"))
    yield workers.start()
    for item in workers.all:
        item.stop()


def peak_bytes(worker) -> int:
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def test_a_sink_names_the_batch_it_cannot_unpack_and_the_worker_lives_on(cluster, worker, tmp_path):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic("bombed", 1, 1)])["bombed"].result(30)
    append_batch(cluster.bootstrap_servers, "bombed", [b"first"], Compression.NONE)
    append_batch(cluster.bootstrap_servers, "bombed", [bytes(3 * DECOMPRESSED_BYTES_MAX)], Compression.GZIP)
    append_batch(cluster.bootstrap_servers, "bombed", [b"last"], Compression.GZIP)
    files = {name: tmp_path / f"{name}.txt" for name in ("strict", "tolerant")}
    for name, file in files.items():
        sink = {"connector.class": "FileStreamSink", "file": str(file), "topics": "bombed", **_TEXT}
        put(worker, name, sink | {"errors.tolerance": "all" if name == "tolerant" else "none"})
    await_true(lambda: worker.task_state("strict") == "FAILED", "the strict one has ended", 60)
    await_true(lambda: files["tolerant"].exists() and files["tolerant"].read_text() == "first\nlast\n", "both", 60)
    assert files["strict"].read_text() == "first\n"
    trace = worker.ask("GET", "/connectors/strict/tasks/0/status")["trace"]
    assert "the batch at bombed-0, offsets 1 to 1" in trace
    assert f"limit of {DECOMPRESSED_BYTES_MAX} bytes" in trace
    assert "errors.tolerance=all leaves it out" in trace
    assert worker.is_running("tolerant")
    assert 'event="batch left out"' in worker.log.read_text()
    # Both tasks at once unpacked as much as they may, twice while the buffer grows; librdkafka took as much again.
    assert peak_bytes(worker) < 6 * DECOMPRESSED_BYTES_MAX
