"""Which jobs there are: those of this package, and those an administrator put as files into a directory of the host.

A user's job is a Python file with one function, `build(records, settings)`; its name is the file's. It is read, and so
run, only when the driver that is to run it starts, or when it is asked for its parameters by name.
"""

import ast
import importlib.util
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from broker.common.errors import StartupError
from broker.config.definition import Key
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.parameters import INPUT_TOPIC, OUTPUT_TOPIC

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUILT_IN = (
    "windowed_counts",
    "count_table",
    "sessions",
    "dedupe",
    "stream_join",
    "table_join",
    "fraud_detection",
    "quality_filter",
    "topic_to_parquet",
    "parquet_to_topic",
    "message_audit",
)
#: A user's job must not be more than this.
FILE_BYTES_MAX = 1_000_000
OUTPUT_MODES = ("append", "update")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")


def find_job(name: str, directory: Path | None) -> Job:
    """StartupError if there is none, or a user's file cannot be run. Runs the user's file."""
    if name in BUILT_IN:
        job: Job = import_module(f"broker.spark.jobs.{name}").JOB
        return job
    if directory is None or name not in user_jobs(directory):
        raise StartupError(f"job={name} must be one of {', '.join([*BUILT_IN, *user_jobs(directory)])}.")
    return _user_job(name, _run_file(name, directory / f"{name}.py"))


def user_jobs(directory: Path | None) -> list[str]:
    """Return the names of possible job files in the directory, without running them."""
    if directory is None or not directory.is_dir():
        return []
    names = (path.stem for path in directory.glob("*.py") if path.is_file() and path.stat().st_size <= FILE_BYTES_MAX)
    return sorted(name for name in names if is_job_name(name))


def user_job_meaning(name: str, directory: Path) -> str:
    """Return the first line of the file's docstring; nothing is run."""
    try:
        documented = ast.get_docstring(ast.parse((directory / f"{name}.py").read_text()))
    except (OSError, SyntaxError, ValueError):
        return "This file cannot be read."
    return (documented or "").partition("\n")[0]


def is_job_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and name not in BUILT_IN


def _run_file(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"barnabas_user_job_{name}", path)
    if spec is None or spec.loader is None:
        raise StartupError(f"{path} cannot be run: it is no file of Python.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise StartupError(f"{path} cannot be run: {type(error).__name__}: {error}.") from error
    return module


def _user_job(name: str, module: ModuleType) -> Job:
    build = getattr(module, "build", None)
    mode, parameters = getattr(module, "OUTPUT_MODE", "append"), tuple(getattr(module, "PARAMETERS", ()))
    if not callable(build):
        raise StartupError(f"{module.__file__} has no function build(records, settings).")
    if mode not in OUTPUT_MODES or not all(isinstance(key, Key) for key in parameters):
        raise StartupError(f"{module.__file__}: PARAMETERS must be Keys, OUTPUT_MODE one of {', '.join(OUTPUT_MODES)}.")
    return Job(
        name=name,
        meaning=(module.__doc__ or "").strip().partition("\n")[0],
        keys=(INPUT_TOPIC, OUTPUT_TOPIC, *parameters),
        build=_from_records(build),
        output_mode=lambda _settings: mode,
        output_configs={"cleanup.policy": "compact"} if mode == "update" else {},
    )


def _from_records(build: "Callable[[DataFrame, Settings], DataFrame]") -> "Callable[[Inputs, Settings], DataFrame]":
    return lambda inputs, settings: build(inputs.topic(settings["input.topic"]), settings)
