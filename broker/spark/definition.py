"""What a stream job is: a name, declared parameters, and one function from records read to records written.

The parameters are `Key`s as a broker's are: the keys of the properties file, `--help` and the console's form all come
from the one declaration. Nothing here, and nothing a job's file does when it is imported, starts or imports Spark.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from broker.config.definition import Key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The values of a job's parameters by the parameter's name, as `window.ms`.
Settings = Mapping[str, Any]


class Inputs(Protocol):
    """Where a job's records come from. Records have the columns of `format("barnabas")`."""

    def topic(self, name: str, *, headers: bool = False) -> "DataFrame":
        """Return the records of a topic as they come, no more in one batch than `max.offsets.per.trigger`.

        With `headers` for jobs that pass records on as they are.
        """
        ...

    def whole_topic(self, name: str) -> "DataFrame":
        """Return the topic without that limit: the first batch has everything there is. For topics that are tables."""
        ...

    def parquet(self, path: str, max_files: int) -> "DataFrame":
        """Return the rows of Parquet files below `path`, and of those that are added, `max_files` in one batch."""
        ...


def _append(_settings: Settings) -> str:
    return "append"


@dataclass(frozen=True, slots=True)
class Job:
    """`build` returns what is written: columns `key` and `value` (text or bytes), perhaps `topic` and `headers`.

    `reads` and `writes` name the parameters whose values are topics, blank: none; the driver makes those that are
    missing, the first written one with `output_configs`. `files` names the parameter that is the directory of Parquet
    files to write; such a job writes its rows as they are, partitioned by their column `date`.
    """

    name: str
    meaning: str
    keys: tuple[Key, ...]
    build: Callable[[Inputs, Settings], "DataFrame"]
    reads: tuple[str, ...] = ("input.topic",)
    writes: tuple[str, ...] = ("output.topic",)
    output_mode: Callable[[Settings], str] = _append
    output_configs: Mapping[str, str] = field(default_factory=dict)
    files: str = ""

    def input_topics(self, settings: Settings) -> list[str]:
        return [settings[key] for key in self.reads]

    def output_topics(self, settings: Settings) -> list[str]:
        return [settings[key] for key in self.writes if settings[key]]
