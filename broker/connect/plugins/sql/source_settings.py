"""What a source of rows is told, and which of it contradicts itself."""

from collections.abc import Mapping
from typing import Any

from broker.connect.api import ConfigDef, ConfigKey, ConfigType, Importance
from broker.connect.api.config import OneOf, between
from broker.connect.plugins.sql.database import CONNECTION

BY_NUMBER = ("incrementing", "timestamp+incrementing")
BY_TIME = ("timestamp", "timestamp+incrementing")
_MODE = OneOf("bulk", "incrementing", "timestamp", "timestamp+incrementing")
_NUMERIC = OneOf("none", "precision_only", "best_fit", "best_fit_eager_double")
CONFIG = CONNECTION + ConfigDef(
    ConfigKey(
        "mode",
        importance=Importance.HIGH,
        documentation="How new rows are recognised; bulk reads all rows each time.",
        validator=_MODE,
        recommender=_MODE,
    ),
    ConfigKey(
        "table.whitelist",
        ConfigType.LIST,
        [],
        Importance.HIGH,
        "Tables, each may be SCHEMA.TABLE; empty: all, of one task.",
    ),
    ConfigKey("table.blacklist", ConfigType.LIST, [], documentation="Tables of all that are not read."),
    ConfigKey(
        "schema.pattern",
        default="",
        documentation="Schemas of tables that are named without one, % for any text; empty: the database's default.",
    ),
    ConfigKey(
        "table.poll.interval.ms",
        ConfigType.LONG,
        60_000,
        documentation="How often all tables are listed again.",
        validator=between(1_000),
    ),
    ConfigKey("query", default="", documentation="A SELECT in place of tables; its topic is topic.prefix."),
    ConfigKey("incrementing.column.name", default="", documentation="Column that is larger in each new row."),
    ConfigKey(
        "timestamp.column.name",
        ConfigType.LIST,
        [],
        documentation="Columns with the moment of the last change; the first that is not null counts.",
    ),
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
    ConfigKey(
        "validate.non.null",
        ConfigType.BOOLEAN,
        True,
        documentation="Whether the columns of mode must be NOT NULL; else rows without them are left out.",
    ),
    ConfigKey(
        "numeric.mapping",
        default="none",
        documentation="NUMERIC as Decimal, or where digits allow as integers (precision_only) and doubles (best_fit).",
        validator=_NUMERIC,
        recommender=_NUMERIC,
    ),
)


def contradictions(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    mode = (values["mode"] or "").lower()
    problems = []
    whitelist = values["table.whitelist"] or []
    if values["query"] and whitelist:
        problems.append(("table.whitelist", "Either table.whitelist or query says what is read"))
    if values["table.blacklist"] and (whitelist or values["query"]):
        problems.append(("table.blacklist", "It leaves tables out of all: use it without table.whitelist and query"))
    names = [name.rpartition(".")[2] for name in whitelist]
    if twice := [name for name in names if names.count(name) > 1]:
        problems.append(("table.whitelist", f"Two tables are called {twice[0]}: read each by a connector of its own"))
    if values["query"] and not values["topic.prefix"]:
        problems.append(("topic.prefix", "A query's topic is topic.prefix"))
    if mode in BY_NUMBER and not values["incrementing.column.name"]:
        problems.append(("incrementing.column.name", f"mode={mode} needs it"))
    if mode in BY_TIME and not values["timestamp.column.name"]:
        problems.append(("timestamp.column.name", f"mode={mode} needs it"))
    return problems
