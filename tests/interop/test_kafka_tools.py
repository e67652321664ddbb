"""Every tool of Kafka 4.4 against a cluster of ours: it works, or says what it needs."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fetched import KAFKA, class_path
from tests.interop.kafka_tools import COMMANDS, ToolCommand, table

PROGRAM = Path(__file__).parent / "java" / "Tools.java"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "compatibility.md"
#: Of tools that ask with the versions of Kafka 4.4 alone.
SLICE = [
    command
    for command in COMMANDS
    if command.tool in ("kafka-cluster", "kafka-features", "kafka-client-metrics", "kafka-metadata-quorum")
]

needs_jdk = pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK, which compiles the program")


def run(commands: list[ToolCommand], places: dict[str, str], *, fetch: bool) -> list[tuple[ToolCommand, dict]]:
    """Run the commands in one Java, in their order."""
    lines = "".join(json.dumps(command.words(places)) + "\n" for command in commands)
    ended = subprocess.run(
        ["java", "-Xmx256m", "-cp", class_path(KAFKA, fetch=fetch), str(PROGRAM)],
        input=lines, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    results = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(results) == len(commands), ended.stderr[-2000:]
    return list(zip(commands, results, strict=True))


def failed(results: list[tuple[ToolCommand, dict]], places: dict[str, str]) -> dict[str, str]:
    """Return what commands printed that did not end, or did not print what they should."""
    return {
        f"{command.tool} {command.arguments}": result["output"][-1500:]
        for command, result in results
        if not result["ended"] or command.prints.format_map(places) not in result["output"]
    }


@needs_jdk
def test_tools_of_kafka_4_ask_what_is_served(cluster):
    places = {"servers": cluster.bootstrap_servers}
    assert failed(run(SLICE, places, fetch=False), places) == {}


@pytest.mark.long
@pytest.mark.timeout(1200)
@needs_jdk
def test_every_tool_works_or_says_what_it_needs(cluster, tmp_path, name):
    broker = cluster.brokers[0]
    partition = {"topic": name, "partition": 0}
    move = {"version": 1, "partitions": [partition | {"replicas": [broker.broker_id]}]}
    (tmp_path / "move.json").write_text(json.dumps(move))
    (tmp_path / "delete.json").write_text(json.dumps({"version": 1, "partitions": [partition | {"offset": 1}]}))
    (tmp_path / "empty.properties").write_text("")
    places = {
        "servers": cluster.bootstrap_servers, "topic": name, "other": f"{name}-2", "directory": str(tmp_path),
        "logs": str(broker.log_dirs[0]),
    }  # fmt: skip
    assert failed(run(list(COMMANDS), places, fetch=True), places) == {}


def test_the_page_has_every_tool():
    assert table() in PAGE.read_text()
