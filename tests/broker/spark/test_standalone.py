"""The same job on a cluster of Spark's own: a master and two workers, the driver a client of them."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from broker.common.java_runtime import java_home_for_spark
from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.mock_cluster import produce_all
from tests.broker.spark.driver import Driver, write_config
from tests.broker.spark.table_of import table_of
from tests.zookeeper_server import free_ports

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.timeout(600)]
_SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_DEADLINE_S = 240
#: A JVM of a minute is done before the second compiler pays.
SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


@contextlib.contextmanager
def spark_process(directory: Path, *arguments: str) -> Iterator[Path]:
    """`spark-class org.apache.spark.deploy.…`; the path of its log."""
    directory.mkdir(parents=True)
    log = directory / "log"
    environment = os.environ | {
        "JAVA_HOME": str(java_home_for_spark(directory / "java")),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(directory / "work"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
        "PYSPARK_PYTHON": sys.executable,
    }
    with log.open("w") as output:
        process = subprocess.Popen(
            [str(_SPARK_CLASS), *arguments], env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL
        )
    try:
        yield log
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture
def master(tmp_path) -> Iterator[str]:
    """The address of a master with two workers of one core each; what both ran lies in their directories."""
    port, web, *webs = free_ports(4)
    address = f"spark://127.0.0.1:{port}"
    common = ("--host", "127.0.0.1")
    with contextlib.ExitStack() as running:
        named = ("org.apache.spark.deploy.master.Master", *common, "--port", str(port), "--webui-port", str(web))
        log = running.enter_context(spark_process(tmp_path / "master", *named))
        for number, web_of_worker in enumerate(webs):
            named = ("org.apache.spark.deploy.worker.Worker", *common, "--webui-port", str(web_of_worker))
            size = ("--cores", "1", "--memory", "600m", address)
            running.enter_context(spark_process(tmp_path / f"worker-{number}", *named, *size))
        await_true(lambda: log.read_text().count("Registering worker") == 2, "two workers registered", 60)
        yield address


def test_a_job_runs_on_a_master_with_two_workers(tmp_path, master, zookeeper):
    with running_cluster(tmp_path / "cluster", zookeeper=zookeeper) as cluster:
        words = [b"the log is the truth"] * 100
        produce_all(cluster.bootstrap_servers, "lines", words)
        settings = {"input_topic": "lines", "output_topic": "words", "count": "words", "master": master}
        of_spark = {"spark_executor_memory": "500m", "spark_driver_host": "127.0.0.1"}
        of_spark |= {"spark_executor_extraJavaOptions": SHORT_LIVED}
        driver = Driver(
            write_config(tmp_path / "job", "count_table", cluster.bootstrap_servers, **settings, **of_spark)
        )
        driver.start()
        try:
            driver.await_batch_after(-1)
            counts = {"the": {"count": 200}, **{word: {"count": 100} for word in ("log", "is", "truth")}}
            deadline = time.monotonic() + _DEADLINE_S
            # The tasks of a batch are committed one after the other.
            while (table := table_of(cluster.bootstrap_servers, "words")) != counts:
                assert time.monotonic() < deadline, table
            assert driver.terminate() == 0
        finally:
            driver.kill()
    ran = tmp_path.glob("worker-*/work/app-*/*")
    assert {path.relative_to(tmp_path).parts[0] for path in ran} == {"worker-0", "worker-1"}
