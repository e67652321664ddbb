"""What a source of rows is told, and which of it contradicts itself."""

from collections.abc import Mapping
from typing import Any

from broker.connect.api import ConfigDef, ConfigKey, ConfigType, Importance
from broker.connect.api.config import OneOf, between
from broker.connect.plugins.sql.database import CONNECTION

BY_NUMBER = ("incrementing", "timestamp+incrementing")
BY_TIME = ("timestamp", "timestamp+incrementing")
_MODE = OneOf("bulk", "incrementing", "timestamp", "timestamp+incrementing")
CONFIG = CONNECTION + ConfigDef(
    ConfigKey(
        "mode",
        importance=Importance.HIGH,
        documentation="How new rows are recognised; bulk reads all rows each time.",
        validator=_MODE,
        recommender=_MODE,
    ),
    ConfigKey("table.whitelist", ConfigType.LIST, [], Importance.HIGH, "Tables, each may be SCHEMA.TABLE."),
    ConfigKey("query", default="", documentation="A SELECT in place of tables; its topic is topic.prefix."),
    ConfigKey("incrementing.column.name", default="", documentation="Column that is larger in each new row."),
    ConfigKey("timestamp.column.name", default="", documentation="Column with the moment of the last change."),
    ConfigKey("topic.prefix", default="", importance=Importance.HIGH, documentation="What topics begin with."),
    ConfigKey(
        "poll.interval.ms", ConfigType.INT, 1_000, documentation="Pause if nothing is new.", validator=between(1)
    ),
    ConfigKey(
        "batch.max.rows",
        ConfigType.INT,
        1_000,
        documentation="Rows of one poll; no more are in memory.",
        validator=between(1, 100_000),
    ),
    ConfigKey(
        "timestamp.delay.interval.ms",
        ConfigType.LONG,
        0,
        documentation="How old a row must be: as long as transactions may take.",
        validator=between(0),
    ),
)


def contradictions(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    mode = (values["mode"] or "").lower()
    problems = []
    if bool(values["query"]) == bool(values["table.whitelist"]):
        problems.append(("table.whitelist", "Either table.whitelist or query says what is read"))
    if values["query"] and not values["topic.prefix"]:
        problems.append(("topic.prefix", "A query's topic is topic.prefix"))
    if mode in BY_NUMBER and not values["incrementing.column.name"]:
        problems.append(("incrementing.column.name", f"mode={mode} needs it"))
    if mode in BY_TIME and not values["timestamp.column.name"]:
        problems.append(("timestamp.column.name", f"mode={mode} needs it"))
    return problems
