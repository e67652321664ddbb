"""A properties file becomes a stream job's configuration, or one sentence that names the key that is wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from broker.common.errors import StartupError
from broker.spark.config import read_stream_config
from broker.spark.job import _only_driver
from broker.spark.progress import ProgressFile, progress_facts
from tests.manual_clock import ManualClock

GOOD = """job=windowed_counts
bootstrap.servers=127.0.0.1:9092
checkpoint.dir=streams/counts
input.topic=visits
output.topic=visits.counts
"""


def test_defaults_are_those_of_a_small_machine():
    config = read_stream_config(GOOD)
    assert (config.master, config.driver_memory, config.trigger_interval_ms) == ("local[2]", "512m", 1_000)
    assert config.directory.is_absolute()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("job=word_count", "job=word_count must be one of windowed_counts, count_table"),
        ("group.by=$.path,", r"group\.by=.* is not a field .key, value"),
        ("group.by=$.path,path:key", r"group\.by"),
        ("input.topic=a b", r"input\.topic='a b' is not a topic's name"),
        ("tigger.interval.ms=5", r"tigger\.interval\.ms"),
        ("window.ms=1", r"Invalid value 1 for configuration window\.ms"),
        ("driver.memory=512m -XX:+Something", r"driver\.memory=.* is not an amount of memory, as 512m or 4g"),
    ],
)
def test_mistake_is_named(line, message):
    with pytest.raises(StartupError, match=message):
        read_stream_config(GOOD + line)


def test_declared_parameters_are_read_with_their_types():
    settings = read_stream_config(GOOD + "group.by=$.path, agent:/UA=(\\\\S+)/\nsum.field=$.bytes\n").settings
    assert [(field.name, field.source) for field in settings["group.by"]] == [
        ("path", "$.path"),
        ("agent", r"/UA=(\S+)/"),
    ]
    assert (settings["window.ms"], settings["emit"], settings["sum.field"].name) == (60_000, "changes", "bytes")


@pytest.mark.parametrize(
    ("topic", "message"),
    [("console.access", "would read what it writes, without end: console.access"), ("console.access.counts", "same")],
)
def test_dead_letters_go_to_a_topic_of_their_own(topic, message):
    own = "input.topic=console.access\noutput.topic=console.access.counts\n"
    assert read_stream_config(GOOD + own + "dead.letter.topic=dead\n").settings["dead.letter.topic"] == "dead"
    with pytest.raises(StartupError, match=message):
        read_stream_config(GOOD + own + f"dead.letter.topic={topic}\n")


def test_settings_of_spark_are_handed_over():
    assert read_stream_config(GOOD + "spark.executor.memory=1g\n").spark == {"spark.executor.memory": "1g"}


def test_second_driver_of_a_checkpoint_does_not_start(tmp_path):
    with _only_driver(tmp_path), pytest.raises(StartupError, match="Another driver"), _only_driver(tmp_path):
        pass
    with _only_driver(tmp_path):
        pass


def test_progress_keeps_its_facts_and_moves_its_heartbeat(tmp_path):
    clock = ManualClock()
    progress = ProgressFile(tmp_path, clock, "access_counts")
    progress.write("running", **progress_facts({"batchId": 4, "stateOperators": [{"numRowsTotal": 3}]}))
    clock.advance(1_500)
    progress.write("stopped")
    shown = json.loads((tmp_path / "progress.json").read_text())
    assert (shown["job"], shown["state"], shown["batch_id"], shown["state_rows"]) == ("access_counts", "stopped", 4, 3)
    assert shown["heartbeat_ms"] - shown["started_ms"] == 1_500


def test_reading_the_configuration_starts_no_spark():
    code = "import sys, broker.cli.stream, broker.cli.connect_worker; assert 'pyspark' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[3])
