"""Which stream jobs there are, their parameters, and where one goes on: asked of `broker.spark`, without Spark.

An administrator's own file is run in a process of its own, and only to be asked for its parameters.
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from broker.common.installation import module_command, with_code_path
from broker.config.definition import ConfigError, Key, parse_boolean, parse_int
from broker.spark.catalog import BUILT_IN, find_job, user_job_meaning, user_jobs
from broker.spark.checkpoint import read_checkpoint
from broker.spark.config import KEYS
from broker.spark.description import describe_job, describe_key
from broker.spark.ledger_names import DECISIONS_TOPIC as SINK_TOPIC
from broker.spark.ledger_names import LEDGER_PREFIX as SINK_PREFIX
from broker.spark.parameters import parse_topic

__all__ = ["SINK_PREFIX", "SINK_TOPIC"]

DESCRIBE_TIMEOUT_S = 20
#: Keys of every job that a person may set in the form; the others follow from the host.
OFFERED = (
    "starting.offsets",
    "max.offsets.per.trigger",
    "trigger.interval.ms",
    "fail.on.data.loss",
    "topic.partitions",
    "driver.memory",
)


#: How the keys of topics that are written begin.
_WRITTEN = ("output.", "dead.letter.")


class NoSuchJobError(Exception):
    """There is no such job, or its file cannot be run; one sentence."""


@dataclass(frozen=True, slots=True)
class JobName:
    name: str
    meaning: str
    is_users: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`kind` is int, long, boolean, double or string, as Kafka names types; `default` is text, None without one."""

    name: str
    kind: str
    default: str | None
    is_required: bool
    meaning: str
    at_least: float | None
    at_most: float | None
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobView:
    """`reads` and `writes` name the parameters that are topics; `common` are parameters that every job has."""

    name: str
    meaning: str
    documentation: str
    parameters: tuple[Parameter, ...]
    common: tuple[Parameter, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]


def list_jobs() -> list[JobName]:
    """List the jobs without running a file."""
    directory = settings.JOBS_DIR
    users = (JobName(name, user_job_meaning(name, directory), True) for name in user_jobs(directory))
    return [*(JobName(name, find_job(name, None).meaning, False) for name in BUILT_IN), *users]


def describe(name: str) -> JobView:
    """Raises NoSuchJobError."""
    if name in BUILT_IN:
        described = describe_job(find_job(name, None))
    elif name in user_jobs(settings.JOBS_DIR):
        described = _described_by_itself(name)
    else:
        raise NoSuchJobError(f"There is no stream job {name}.")
    common = (describe_key(key) for key in KEYS if key.name in OFFERED)
    return JobView(
        described["name"],
        described["meaning"],
        "\n\n".join(" ".join(paragraph.split()) for paragraph in described["documentation"].split("\n\n")),
        tuple(map(_parameter, described["parameters"])),
        tuple(map(_parameter, common)),
        tuple(described["reads"]),
        tuple(described["writes"]),
    )


@dataclass(frozen=True, slots=True)
class TopicKeys:
    """Names of the properties that are topics."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def topic_keys(name: str, properties: Mapping[str, str]) -> TopicKeys:
    """Return the job's topic keys without running a file; a user's job by the template's names."""
    if name in BUILT_IN:
        job = find_job(name, None)
        return TopicKeys(tuple(job.reads), tuple(job.writes))
    topics = [key for key in properties if key.endswith(".topic")]
    writes = tuple(key for key in topics if key.startswith(_WRITTEN))
    return TopicKeys(tuple(key for key in topics if key not in writes), writes)


def why_wrong(job: JobView, name: str, text: str) -> str:
    """Return why `text` is no valid value of the parameter `name`; empty if it is. A user's job may refuse more."""
    keys = {key.name: key for key in (*KEYS, *(find_job(job.name, None).keys if job.name in BUILT_IN else ()))}
    key = keys.get(name) or _key_of(next(parameter for parameter in job.parameters if parameter.name == name), job)
    try:
        key.read(text)
    except ConfigError as error:
        return str(error)
    return ""


def checkpoint_of(directory: Path) -> Mapping[tuple[str, int], int] | None:
    """Return the next offset of each partition a job reads; None without a checkpoint, empty if no batch was
    finished.
    """
    checkpoint = read_checkpoint(directory)
    return (
        None
        if checkpoint is None
        else {(item.topic, item.partition): offset for item, offset in checkpoint.offsets.items()}
    )


def _described_by_itself(name: str) -> dict[str, Any]:
    command = module_command("broker", "stream-jobs", name, "--json", "--jobs-dir", str(settings.JOBS_DIR))
    environment = with_code_path(os.environ)
    try:
        answer = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=DESCRIBE_TIMEOUT_S, check=False
        )
        if answer.returncode:
            lines = answer.stderr.strip().splitlines()
            raise NoSuchJobError(lines[-1] if lines else f"{name} ended with status {answer.returncode}.")
        return json.loads(answer.stdout)
    except subprocess.TimeoutExpired:
        raise NoSuchJobError(f"The file of {name} did not end within {DESCRIBE_TIMEOUT_S} s.") from None
    except ValueError:
        raise NoSuchJobError(f"The file of {name} wrote something else when it was described.") from None


def _parameter(document: Mapping[str, Any]) -> Parameter:
    fields = {field: document[field] for field in ("name", "default", "is_required", "meaning", "at_least", "at_most")}
    return Parameter(kind=document["type"], choices=tuple(document["choices"]), **fields)


def _key_of(parameter: Parameter, job: JobView) -> Key:
    parsers: dict[str, Callable[[str], object]] = {
        "long": parse_int,
        "int": parse_int,
        "boolean": parse_boolean,
        "double": float,
    }
    is_topic = parameter.name in (*job.reads, *job.writes)
    parse = parse_topic if is_topic else parsers.get(parameter.kind, str)
    return Key(
        parameter.name,
        parse,
        None,
        parameter.meaning,
        at_least=parameter.at_least,
        at_most=parameter.at_most,
        choices=parameter.choices,
    )
