"""How a database is reached, and what its types are in Connect's words."""

import sqlite3
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from broker.common.extras import missing_part
from broker.connect.api import ConfigDef, ConfigError, ConfigKey, ConfigType, Importance, Schema, Type
from broker.connect.api import schema as types
from broker.connect.api.schema import DATE, DECIMAL, TIME, TIMESTAMP
from broker.connect.converters.logical import scale_of
from broker.connect.plugins.paths import checked_path
from broker.connect.plugins.sql.options import check_options

if TYPE_CHECKING:
    import sqlalchemy

#: Longest name of a table or column: PostgreSQL would cut a longer one off, and so mix two up.
NAME_BYTES_MAX = 63
_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgresql+psycopg": "postgresql+psycopg"}


def parse_url(name: str, text: str) -> "sqlalchemy.URL":
    """Parse a database URL. Raises ConfigError for another database, a password in the URL, or a forbidden file."""
    import sqlalchemy

    try:
        url = sqlalchemy.make_url(text)
    except (sqlalchemy.exc.ArgumentError, ValueError):
        raise ConfigError(name, f"Invalid value for configuration {name}: no database URL") from None
    if url.drivername not in _DRIVERS:
        raise ConfigError(name, f"Invalid value for configuration {name}: {url.drivername} is not sqlite or postgresql")
    if url.drivername != "sqlite" and (missing := missing_part("postgres")):
        raise ConfigError(name, missing)
    if url.password:
        raise ConfigError(name, f"Invalid value for configuration {name}: the password is connection.password")
    if url.drivername == "sqlite":
        if not url.database or url.database == ":memory:" or url.query:
            raise ConfigError(name, f"Invalid value for configuration {name}: sqlite:/// and a file")
        checked_path(name, url.database, writes=True)  # SQLite creates a file that is missing, for a source too
    else:
        check_options(name, url.database or "", url.query)
    return url.set(drivername=_DRIVERS[url.drivername])


def is_zone(name: str, value: str) -> None:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(name, f"Invalid value {value} for configuration {name}: no name of a time zone") from None


def _is_url(name: str, value: str) -> None:
    parse_url(name, value)


CONNECTION = ConfigDef(
    ConfigKey(
        "connection.url",
        importance=Importance.HIGH,
        documentation="sqlite:///FILE or postgresql://HOST:PORT/DATABASE.",
        validator=_is_url,
    ),
    ConfigKey("connection.user", default=None, documentation="User of the database."),
    ConfigKey("connection.password", ConfigType.PASSWORD, None, documentation="The user's password."),
    ConfigKey(
        "db.timezone",
        default="UTC",
        documentation="The zone of timestamps that the database keeps without one, such as Europe/Berlin.",
        validator=is_zone,
    ),
)


def connect(values: dict[str, Any]) -> "sqlalchemy.Engine":
    import sqlalchemy

    url = parse_url("connection.url", values["connection.url"])
    password = values["connection.password"]
    url = url.set(username=values["connection.user"], password=password.value if password else None)
    engine = sqlalchemy.create_engine(
        url,
        pool_size=1,
        max_overflow=1,
        pool_pre_ping=True,
        hide_parameters=True,
        json_deserializer=_document_text,
    )
    if engine.dialect.name == "postgresql":
        sqlalchemy.event.listen(engine, "connect", lambda made, _record: _prepare(made, values["db.timezone"]))
    return engine


#: What PostgreSQL writes itself: Python's objects lose months, and have other texts.
_AS_TEXT = ("interval", *(f"{kind}{word}" for kind in ("int4", "int8", "num", "date", "ts", "tstz")
                          for word in ("range", "multirange")))  # fmt: skip


def _prepare(connection: Any, zone: str) -> None:
    """Set the session's time zone, by which PostgreSQL converts columns without a zone."""
    from psycopg.types.string import TextLoader

    for name in _AS_TEXT:
        connection.adapters.register_loader(name, TextLoader)
    connection.execute("SELECT set_config('TimeZone', %s, false)", (zone,))
    connection.commit()


def _document_text(document: str | bytes) -> str:
    """Return a document of JSON as the text that the database has."""
    return document if isinstance(document, str) else bytes(document).decode()


def is_gone(error: Exception) -> bool:
    """Return whether the database, not the statement, is at fault: it went away, is locked or starting."""
    import sqlalchemy.exc as raised

    if getattr(getattr(error, "orig", None), "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
        return False  # SQLite's OperationalError is of wrong statements, too
    return isinstance(error, raised.OperationalError | raised.InterfaceError) or (
        isinstance(error, raised.DBAPIError) and error.connection_invalidated
    )


def checked_name(name: str) -> str:
    """Return the name. Raises ValueError if it is no valid name of a table or column."""
    if not name or "\x00" in name or len(name.encode()) > NAME_BYTES_MAX:
        raise ValueError(f"{name[:100]!r} cannot be a name: 1 to {NAME_BYTES_MAX} bytes")
    return name


def schema_of_column(column: Any, is_sqlite: bool, numeric: str = "none") -> Schema:
    """Return the schema of a column; `numeric` is numeric.mapping."""
    import sqlalchemy as sa

    kind, optional = column.type, bool(column.nullable)
    if isinstance(kind, sa.Numeric) and not isinstance(kind, sa.Float):
        return schema_of_numeric(kind.precision, kind.scale, optional, numeric)
    for base, made in (
        (sa.Boolean, Schema(Type.BOOLEAN, optional)),
        (sa.SmallInteger, Schema(Type.INT16, optional)),
        (sa.BigInteger, Schema(Type.INT64, optional)),
        (sa.Integer, Schema(Type.INT64 if is_sqlite else Type.INT32, optional)),
        (sa.Float, Schema(Type.FLOAT64, optional)),
        (sa.DateTime, types.timestamp_schema(optional)),
        (sa.Date, types.date_schema(optional)),
        (sa.Time, types.time_schema(optional)),
        (sa.LargeBinary, Schema(Type.BYTES, optional)),
    ):
        if isinstance(kind, base):
            return made
    return _text(optional)


#: Digits of a NUMERIC that a long holds whatever they are, and those of shorter integers.
_INTEGER_DIGITS = 18
_DIGITS = ((2, Type.INT8), (4, Type.INT16), (9, Type.INT32), (_INTEGER_DIGITS, Type.INT64))


def schema_of_numeric(precision: int | None, scale: int | None, optional: bool, mapping: str) -> Schema:
    """Return what Confluent's numeric.mapping makes of NUMERIC(precision, scale); one without a scale is text."""
    if scale is None:
        return _text(optional)
    fits = precision is not None and 0 < precision <= _INTEGER_DIGITS
    if mapping != "none" and scale == 0 and fits:
        return Schema(next(kind for digits, kind in _DIGITS if (precision or 0) <= digits), optional)
    if scale > 0 and (mapping == "best_fit_eager_double" or (mapping == "best_fit" and fits)):
        return Schema(Type.FLOAT64, optional)
    return types.decimal_schema(scale, optional)


def _text(optional: bool) -> Schema:
    return Schema(Type.STRING, optional)


def column_type(schema: Schema) -> Any:
    """Return the column's type. Raises ValueError for a schema with fields or items."""
    import sqlalchemy as sa

    logical = {DATE: sa.Date, TIME: sa.Time}
    if schema.name == DECIMAL:
        return sa.Numeric(38, scale_of(schema))
    if schema.name == TIMESTAMP:
        return sa.DateTime(timezone=True)
    if schema.name in logical:
        return logical[schema.name]()
    made = {
        Type.INT8: sa.SmallInteger,
        Type.INT16: sa.SmallInteger,
        Type.INT32: sa.Integer,
        Type.INT64: sa.BigInteger,
        Type.FLOAT32: sa.Float,
        Type.FLOAT64: sa.Double,
        Type.BOOLEAN: sa.Boolean,
        Type.STRING: sa.Text,
        Type.BYTES: sa.LargeBinary,
    }.get(schema.type)
    if made is None:
        raise ValueError(f"a field of type {schema.type} cannot be a column; flatten it first")
    return made()
