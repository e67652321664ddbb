"""A Spark session as small as one stream job needs, on the Java that was found, its workers able to import us."""

import logging
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from broker.common.java_runtime import java_home_for_spark
from broker.config.properties import properties_text
from broker.spark.daemon import frugal_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]

#: A small heap and a quick start matter more than throughput: serial collector, first compiler only. The heap begins
#: small and follows what is alive; Java's own begins with a 64th of the machine's memory, and fills that first.
_JVM_FLAGS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xms64m -XX:MinHeapFreeRatio=15 -XX:MaxHeapFreeRatio=40"


def build_session(
    name: str,
    master: str,
    driver_memory: str,
    directory: Path,
    ui: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> "SparkSession":
    """Start the driver's JVM. `directory` takes what Spark writes besides checkpoints: scratch files, a Java shim.

    Sets environment variables of this process, which the JVM and the Python workers inherit; call once per process.
    On a cluster's master the executors run this very Python and package: each host has them at the same path.
    """
    logging.getLogger("py4j").setLevel(logging.WARNING)
    scratch = directory / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    os.environ |= {
        "JAVA_HOME": str(java_home_for_spark(directory / "java")),
        "PYSPARK_PYTHON": str(frugal_python(directory)) if is_local(master) else sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(_PACKAGE_ROOT), os.environ.get("PYTHONPATH")))),
        "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
    }
    ours = {
        "spark.ui.enabled": str(ui).lower(),
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(scratch),
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        # Hadoop's local file system sets the mode of each file itself, whatever the process's umask.
        "spark.hadoop.fs.permissions.umask-mode": "077",
    }
    file = directory / "spark.properties"
    write_settings(file, ours | authentication(master) | dict(settings))
    os.environ["PYSPARK_SUBMIT_ARGS"] = submit_arguments(driver_memory, file)
    from pyspark.sql import SparkSession

    session = SparkSession.builder.appName(name).master(master).getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    return session


def authentication(master: str) -> dict[str, str]:
    """Return the settings that authenticate clients of the driver's ports by a secret. On this machine alone Spark
    makes one itself and keeps it in memory; on a cluster's master the secret is that cluster's, and given in the
    job's own `spark.` settings.
    """
    return {"spark.authenticate": "true"} if is_local(master) else {}


def is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def write_settings(file: Path, settings: Mapping[str, str]) -> None:
    """Write a Java properties file that only this user can read, unlike a command line."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        stream.write(properties_text(settings))


def submit_arguments(driver_memory: str, settings: Path) -> str:
    """Return the arguments needed before the JVM starts, with the path of the other settings."""
    flags = f"spark.driver.extraJavaOptions={_JVM_FLAGS}"
    return (
        f"--driver-memory {shlex.quote(driver_memory)} --conf {shlex.quote(flags)} "
        f"--properties-file {shlex.quote(str(settings))} --load-spark-defaults pyspark-shell"
    )
