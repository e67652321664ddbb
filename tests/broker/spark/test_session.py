"""What others on the machine can learn of a driver: nothing by its command line, its ports or its files."""

import os
from pathlib import Path

import psutil
import pytest

from broker.spark.session import authentication, write_settings

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def java_of_this_process() -> psutil.Process:
    """Spark's; the worker of these tests may run, or have run, a ZooKeeper server as well."""
    children = psutil.Process().children(recursive=True)
    alive = (child for child in children if child.status() != psutil.STATUS_ZOMBIE)
    return next(child for child in alive if "java" in child.name() and "--properties-file" in child.cmdline())


def test_settings_are_in_a_file_of_its_owner_and_on_no_command_line(spark):
    command = " ".join(java_of_this_process().cmdline())
    file = Path(command.partition("--properties-file ")[2].split()[0])
    assert file.stat().st_mode & 0o777 == 0o600
    for key in ("spark.sql.shuffle.partitions", "spark.local.dir", "spark.authenticate"):
        assert f"\n{key}=" in f"\n{file.read_text()}"
        assert key not in command
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"


def test_who_speaks_to_the_driver_must_know_what_only_it_knows(spark):
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.authenticate") == "true"
    assert conf.get("spark.authenticate.secret", None) is None
    assert spark.range(100).repartition(3).count() == 100


def test_a_checkpoint_is_for_its_owner_alone(spark, tmp_path):
    before = os.umask(0o022)
    try:
        stream = spark.readStream.format("rate").load().writeStream.format("memory").queryName("checked")
        query = stream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
        assert query.awaitTermination(120)
    finally:
        os.umask(before)
    files = [path for path in (tmp_path / "checkpoint").rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if path.stat().st_mode & 0o077] == []


def test_a_clusters_own_secret_is_not_made_up():
    assert authentication("local[2]") == authentication("local") == {"spark.authenticate": "true"}
    assert authentication("spark://host:7077") == {}


def test_a_value_of_any_letters_is_read_as_it_was_written(tmp_path):
    file = tmp_path / "spark.properties"
    write_settings(file, {"spark.a": "C:\\x\ny", "spark.b": " é"})
    assert file.read_text() == "spark.a=C:\\\\x\\ny\nspark.b=\\ é\n"
