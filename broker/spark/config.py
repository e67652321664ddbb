"""The properties file of a stream job: keys that every job has, and the parameters the job declares.

`checkpoint.dir` is the job's own directory. It holds `checkpoint/`, `progress.json`,
`driver.lock`, `scratch/` and `java/`. Keys that begin with `spark.` are handed to Spark: a cluster's master needs some.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker.common.errors import StartupError
from broker.config.definition import REQUIRED, ConfigError, Key, accepting, parse_boolean, parse_int, read_values
from broker.config.properties import parse_properties
from broker.spark.catalog import find_job
from broker.spark.definition import Job, Settings

SPARK_PREFIX = "spark."
_MEMORY = re.compile(r"[1-9][0-9]{0,6}[kmgKMG]")


@accepting("an amount of memory, as 512m or 4g")
def parse_memory(text: str) -> str:
    """Parse a memory size in the format of Java's -Xmx."""
    if not _MEMORY.fullmatch(text):
        raise ValueError(text)
    return text


KEYS = (
    Key("job", str, REQUIRED, "Which job to run."),
    Key("bootstrap.servers", str, REQUIRED, "Brokers to ask for the cluster, host:port, comma separated."),
    Key("client.config", str, "", "A file of Kafka's client properties, mode 600: how brokers are to be reached."),
    Key("checkpoint.dir", str, REQUIRED, "The job's own directory; where it continues after a restart."),
    Key("jobs.dir", str, "", "Where an administrator puts jobs of this host's own, NAME.py each."),
    Key("files.dir", str, "", "What the paths of Parquet files are below; blank: files/ in the job's own directory."),
    Key("master", str, "local[2]", "Spark master: local[N], spark://host:port, yarn or k8s://https://host:port."),
    Key("driver.memory", parse_memory, "512m", "Java heap of the driver; Spark refuses less than 450 MiB."),
    Key("ui.enable", parse_boolean, False, "Serve Spark's own pages."),
    Key("trigger.interval.ms", parse_int, 1_000, "Time between two batches.", at_least=0, at_most=86_400_000),
    Key("max.offsets.per.trigger", parse_int, 50_000, "Records one batch reads at most.", at_least=1),
    Key("starting.offsets", str, "earliest", "Where a job without checkpoint starts.", choices=("earliest", "latest")),
    Key("fail.on.data.loss", parse_boolean, True, "Stop when records are gone before they were read."),
    Key("topic.partitions", parse_int, 1, "Partitions of a topic the job creates.", at_least=1, at_most=10_000),
)


@dataclass(frozen=True)
class StreamConfig:
    """One attribute per key of every job, dots as underscores; `settings` are the values of the job's parameters."""

    job: str
    bootstrap_servers: str
    client_config: str
    checkpoint_dir: str
    jobs_dir: str
    files_dir: str
    master: str
    driver_memory: str
    ui_enable: bool
    trigger_interval_ms: int
    max_offsets_per_trigger: int
    starting_offsets: str
    fail_on_data_loss: bool
    topic_partitions: int
    definition: Job
    settings: Settings
    spark: Mapping[str, str]

    @property
    def directory(self) -> Path:
        return Path(self.checkpoint_dir).absolute()

    @property
    def client(self) -> dict[str, Any]:
        """The settings for librdkafka, with secrets. Raises ClientConfigError."""
        from broker.client.security.file import read_own_security
        from broker.client.security.librdkafka import librdkafka_settings

        security = librdkafka_settings(read_own_security(self.client_config))
        return {"bootstrap.servers": self.bootstrap_servers, **security}

    @property
    def cluster_options(self) -> dict[str, str]:
        """The cluster's options for source and sink.

        Plans show them, so they have the path of the client file and not its content.
        """
        named = {"kafka.client.config": self.client_config} if self.client_config else {}
        return {"kafka.bootstrap.servers": self.bootstrap_servers} | named

    def path_of_files(self, name: str) -> str:
        """Return the path; `files.dir` may be an address that Spark knows, as hdfs://host/directory."""
        return f"{(self.files_dir or str(self.directory / 'files')).rstrip('/')}/{name}"


def read_stream_config(text: str) -> StreamConfig:
    """StartupError with one sentence when the file cannot be right. Runs the file of a user's job."""
    texts = parse_properties(text)
    if not texts.get("job"):
        raise StartupError("job must be set: which job to run.")
    directory = texts.get("jobs.dir", "").strip()
    definition = find_job(texts["job"], Path(directory).absolute() if directory else None)
    spark = {key: value for key, value in texts.items() if key.startswith(SPARK_PREFIX)}
    unknown = sorted(texts.keys() - spark.keys() - {key.name for key in (*KEYS, *definition.keys)})
    if unknown:
        raise StartupError(f"{unknown[0]} is not a key of the stream job {definition.name}.")
    try:
        settings = read_settings(definition, texts)
        _refuse_circle(definition, settings)
        return StreamConfig(**read_values(KEYS, texts), definition=definition, settings=settings, spark=spark)
    except ConfigError as error:
        raise StartupError(str(error)) from None


def _refuse_circle(definition: Job, settings: Settings) -> None:
    outputs = definition.output_topics(settings)
    for topic in outputs:
        if topic in definition.input_topics(settings):
            raise ConfigError(f"{definition.name} would read what it writes, without end: {topic}")
    if len(set(outputs)) < len(outputs):
        raise ConfigError(f"two outputs of {definition.name} are the same topic: {outputs[0]}")


def read_settings(definition: Job, texts: dict[str, str]) -> Settings:
    """Return the job's parameters by name. ConfigError names the one that is wrong."""
    values = read_values(definition.keys, texts)
    return {key.name: values[key.attribute] for key in definition.keys}
