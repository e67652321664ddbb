"""A stream job of this host, with a directory of its own, that does not run."""

import json

import pytest

from console.processes.registry import add_process
from console.state.clusters.models import Partition, Topic


@pytest.fixture
def host(settings, tmp_path):
    """This host's directories."""
    settings.DATA_DIR, settings.LOG_DIR, settings.RUN_DIR = tmp_path, tmp_path / "logs", tmp_path / "run"
    settings.JOBS_DIR = tmp_path / "jobs"
    return tmp_path


@pytest.fixture
def stream(db, host):
    directory = host / "streams" / "counts"
    properties = {"job": "count_table", "input.topic": "orders", "output.topic": "counts"}
    return add_process("stream", "counts", {"directory": str(directory), "properties": properties})


@pytest.fixture
def orders(db):
    """A topic of two partitions: 100 to 150 and 0 to 7."""
    topic = Topic.objects.create(name="orders", partition_count=2)
    Partition.objects.create(topic=topic, partition=0, first_offset=100, next_offset=150)
    Partition.objects.create(topic=topic, partition=1, first_offset=0, next_offset=7)
    return topic


@pytest.fixture
def checkpoint(stream, host):
    """checkpoint({0: 120, 1: 7}): the job's last finished batch ended at these offsets of orders."""

    def write(offsets: dict[int, int]) -> None:
        for kind, text in (("offsets", "v1\n{}\n" + json.dumps({"orders": offsets})), ("commits", "v1\n{}")):
            directory = host / "streams" / "counts" / "checkpoint" / kind
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "4").write_text(text)

    return write


@pytest.fixture
def progress(stream, host):
    """progress(**facts): what the driver writes about itself."""

    def write(**facts: object) -> None:
        (host / "streams" / "counts" / "progress.json").write_text(json.dumps(facts))

    return write
