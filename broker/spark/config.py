"""The properties file of a stream job. `checkpoint.dir` is the job's own directory, see below.

It holds `checkpoint/` (Spark's and the sink's), `progress.json`, `driver.lock`, `scratch/` and `java/`.
"""

from dataclasses import dataclass
from pathlib import Path

from broker.common.errors import StartupError
from broker.config.definition import REQUIRED, ConfigError, Key, parse_boolean, parse_int, read_values
from broker.config.properties import parse_properties

JOBS = ("access_counts",)

KEYS = (
    Key("job", str, REQUIRED, "Which job to run.", choices=JOBS),
    Key("bootstrap.servers", str, REQUIRED, "Brokers to ask for the cluster, host:port, comma separated."),
    Key("checkpoint.dir", str, REQUIRED, "The job's own directory; where it continues after a restart."),
    Key("master", str, "local[2]", "Spark master: local[N] or spark://host:port."),
    Key("driver.memory", str, "512m", "Java heap of the driver; Spark refuses less than 450 MiB."),
    Key("ui.enable", parse_boolean, False, "Serve Spark's own pages."),
    Key("trigger.interval.ms", parse_int, 1_000, "Time between two batches.", at_least=0),
    Key("max.offsets.per.trigger", parse_int, 50_000, "Records one batch reads at most.", at_least=1),
    Key("starting.offsets", str, "earliest", "Where a job without checkpoint starts."),
    Key("fail.on.data.loss", parse_boolean, True, "Stop when records are gone before they were read."),
    Key("input.topic", str, "console.access", "The topic to read."),
    Key("output.topic", str, "console.access.counts", "The topic to write."),
    Key("topic.partitions", parse_int, 1, "Partitions of a topic the job creates.", at_least=1),
    Key("window.ms", parse_int, 60_000, "Length of a window.", at_least=1_000),
    Key("watermark.ms", parse_int, 600_000, "How late a record may come and still be counted.", at_least=0),
)


@dataclass(frozen=True)
class StreamConfig:
    """One attribute per key, dots as underscores."""

    job: str
    bootstrap_servers: str
    checkpoint_dir: str
    master: str
    driver_memory: str
    ui_enable: bool
    trigger_interval_ms: int
    max_offsets_per_trigger: int
    starting_offsets: str
    fail_on_data_loss: bool
    input_topic: str
    output_topic: str
    topic_partitions: int
    window_ms: int
    watermark_ms: int

    @property
    def directory(self) -> Path:
        return Path(self.checkpoint_dir).absolute()


def read_stream_config(text: str) -> StreamConfig:
    """StartupError with one sentence when the file cannot be right."""
    texts = parse_properties(text)
    unknown = sorted(set(texts) - {key.name for key in KEYS})
    if unknown:
        raise StartupError(f"{unknown[0]} is not a key of a stream job.")
    try:
        return StreamConfig(**read_values(KEYS, texts))
    except ConfigError as error:
        raise StartupError(str(error)) from None
