"""JDBC connectors of Confluent and Aiven, and Debezium's JDBC sink, in settings of SqlSource and SqlSink."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from broker.common.java.numbers import trim
from broker.connect.api import ConfigError
from broker.connect.plugins.compatible.setting import ForeignConnector, ForeignSetting, implied, refused, renamed, same

_SOURCE, _SINK = "barnabas.connect.SqlSourceConnector", "barnabas.connect.SqlSinkConnector"
_URL, _USER, _PASSWORD = "connection.url", "connection.user", "connection.password"
_DRIVER_OPTIONS = "give the option in the address, or to the driver as an environment variable of libpq"
#: Parameters of PostgreSQL's JDBC driver in libpq's words.
_PARAMETERS = {"sslmode": "sslmode", "sslrootcert": "sslrootcert", "sslcert": "sslcert", "sslkey": "sslkey"} | {
    "applicationname": "application_name", "logintimeout": "connect_timeout", "connecttimeout": "connect_timeout",
    "options": "options", "targetservertype": "", "channelbinding": "channel_binding", "gssencmode": "gssencmode",
}  # fmt: skip
#: Parameters that say how the Java driver works, or what psycopg does anyway: texts fit any column's type.
_MEANINGLESS = frozenset(
    {"rewritebatchedinserts", "stringtype", "tcpkeepalive", "preparethreshold", "defaultrowfetchsize", "socketfactory"}
    | {"loggerlevel", "binarytransfer", "preparedstatementcachequeries", "autosave", "assumeminserverversion"}
)
_CONNECTION: dict[str, ForeignSetting] = {
    **same("db.timezone", _USER, _PASSWORD, _URL),  # the last three by `_address`, too
    "dialect.name": implied(
        *("postgresqldatabasedialect", "sqlitedatabasedialect"),
        advice="databases are SQLite and PostgreSQL, by connection.url",
    ),
    **dict.fromkeys(("connection.attempts", "connection.backoff.ms", "trim.sensitive.log"), implied()),
    **dict.fromkeys(
        ("quote.sql.identifiers", "sql.quote.identifiers"),
        implied("always", "true", advice="names are always quoted; write them as the database has them"),
    ),
    "connection.*": refused(_DRIVER_OPTIONS),
}
_TYPES_OF_TABLES = implied("table", advice="name a view in table.whitelist, or read it with query")
_SOURCE_SETTINGS = _CONNECTION | {
    **same("mode", "table.whitelist", "table.blacklist", "query", "incrementing.column.name", "timestamp.column.name"),
    **same("topic.prefix", "poll.interval.ms", "batch.max.rows", "timestamp.delay.interval.ms", "validate.non.null"),
    **same("numeric.mapping", "schema.pattern", "table.poll.interval.ms"),
    "numeric.precision.mapping": renamed("numeric.mapping", {"true": "precision_only", "false": "none"}),
    "table.types": _TYPES_OF_TABLES,
    "query.masked": renamed("query"),
    "query.suffix": refused("write the whole statement into query"),
    "query.retry.attempts": implied(),
    "catalog.pattern": refused("a connection reads one database: the one that connection.url names"),
    "table.include.list": refused("use table.whitelist"),
    "table.exclude.list": refused("use table.blacklist"),
    "timestamp.columns.mapping": refused("use timestamp.column.name, in a connector for each group of tables"),
    "incrementing.column.mapping": refused("use incrementing.column.name, in a connector for each group of tables"),
    "timestamp.initial": refused("set the source offset by PATCH /connectors/{name}/offsets while it is stopped"),
    "timestamp.initial.ms": implied("0", advice="set the offset by PATCH /connectors/{name}/offsets"),
    "incrementing.initial": implied("-1", advice="set the offset by PATCH /connectors/{name}/offsets"),
    "timestamp.granularity": implied("connect_logical", advice="timestamps are Connect's Timestamp; Cast changes them"),
    "timestamp.precision.mode": implied("microseconds", advice="moments have milliseconds"),
    "transaction.isolation.mode": implied("default", advice="the database's own level is used"),
    "date.calendar.system": implied(),
    "table.names.qualify": implied("false", advice="a topic is topic.prefix and the table's name"),
    **dict.fromkeys(("max.buffer.size", "poll.linger.ms", "table.monitoring.startup.polling.limit.ms"), implied()),
}
_SINK_SETTINGS = _CONNECTION | {
    **same("insert.mode", "pk.mode", "pk.fields", "delete.enabled", "auto.create", "auto.evolve", "table.name.format"),
    **same("batch.size", "max.retries", "retry.backoff.ms", "fields.whitelist"),
    "fields.included": renamed("fields.whitelist"),
    "table.types": _TYPES_OF_TABLES,
    "table.name.normalize": implied("false", advice="use table.name.format or RegexRouter"),
    "topics.to.tables.mapping": refused("use RegexRouter, or table.name.format in a connector for each topic"),
    "replace.null.with.default": implied("true", advice="a null of a field with a default is written as that"),
    "date.timezone": implied("db_timezone", "utc", advice="dates have no zone"),
    "date.calendar.system": implied(),
    "timestamp.precision.mode": implied("microseconds", advice="moments have milliseconds"),
    "timestamp.fields.list": refused("use TimestampConverter"),
    "string.output.value.column.name": implied(),
    "mssql.use.merge.holdlock": implied(),
}
_DEBEZIUM_SETTINGS = _CONNECTION | {
    **same("insert.mode", "delete.enabled", "batch.size"),
    "connection.username": implied(),
    **dict.fromkeys(("connection.provider", "use.reduction.buffer", "dialect.postgres.postgis.schema"), implied()),
    **{f"connection.pool.{name}": implied() for name in ("min_size", "max_size", "acquire_increment", "timeout")},
    "primary.key.mode": renamed("pk.mode", {mode: mode for mode in ("none", "kafka", "record_key", "record_value")}),
    "primary.key.fields": renamed("pk.fields"),
    "collection.name.format": renamed("table.name.format"),
    "table.name.format": renamed("table.name.format"),
    "use.time.zone": renamed("db.timezone"),
    "database.time_zone": renamed("db.timezone"),
    "schema.evolution": implied("none", "basic"),  # by `_debezium`
    "quote.identifiers": implied("true", advice="names are always quoted"),
    "truncate.enabled": implied("false", advice="truncation is not followed"),
    "field.include.list": refused("use ReplaceField"),
    "field.exclude.list": refused("use ReplaceField"),
    "column.naming.strategy": refused("use ReplaceField"),
    "collection.naming.strategy": refused("use table.name.format or RegexRouter"),
}


def _address(theirs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return connection.url, connection.user and connection.password of a JDBC address. Raises ConfigError."""
    derived = {key: (theirs[key], key) for key in (_USER, _PASSWORD) if key in theirs}
    if "connection.username" in theirs:
        derived[_USER] = theirs["connection.username"], "connection.username"
    text = trim(theirs.get(_URL, ""))
    if not text.lower().startswith("jdbc:"):
        return derived | ({_URL: (text, _URL)} if text else {})
    kind, _, rest = text[len("jdbc:") :].partition(":")
    if kind.lower() == "sqlite":
        return derived | {_URL: (f"sqlite:///{rest.partition('?')[0]}", _URL)}
    if kind.lower() not in ("postgresql", "pgsql"):
        raise ConfigError(
            _URL, f"Invalid value for configuration {_URL}: {kind} is not supported; use jdbc:postgresql or jdbc:sqlite"
        )
    try:
        parts = urlsplit("postgresql:" + (rest if rest.startswith("//") else f"//localhost/{rest}"))
    except ValueError:
        raise ConfigError(_URL, f"Invalid value for configuration {_URL}: no address of a database") from None
    parameters = {name.lower(): value for name, value in parse_qsl(parts.query, keep_blank_values=True)}
    for name, key in (("user", _USER), ("password", _PASSWORD)):
        if name in parameters:
            derived.setdefault(key, (parameters.pop(name), _URL))
            parameters.pop(name, None)
    query = _query(parameters)
    return derived | {_URL: (f"postgresql://{parts.netloc}{parts.path}{'?' + query if query else ''}", _URL)}


def _query(parameters: Mapping[str, str]) -> str:
    """Return libpq's options. Raises ConfigError for a parameter that it does not have."""
    options: dict[str, str] = {}
    for name, value in parameters.items():
        if name == "currentschema":
            options["options"] = f"-csearch_path={value}"
        elif name == "ssl":
            if value.lower() != "false":
                options.setdefault("sslmode", "verify-full" if value.lower() in ("", "true") else "require")
        elif name in _PARAMETERS:
            if _PARAMETERS[name]:
                options[_PARAMETERS[name]] = value
        elif name not in _MEANINGLESS:
            raise ConfigError(
                _URL, f"Invalid value for configuration {_URL}: the parameter {name} is not supported; leave it out"
            )
    return "&".join(f"{name}={quote(unquote(value), safe='')}" for name, value in options.items())


def _debezium(theirs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    derived = _address(theirs)
    if trim(theirs.get("schema.evolution", "none")).lower() == "basic":
        derived |= dict.fromkeys(("auto.create", "auto.evolve"), ("true", "schema.evolution"))
    return derived


_SOURCE_DEFAULTS = {"poll.interval.ms": "5000", "batch.max.rows": "100"}
CONNECTORS = {
    "io.confluent.connect.jdbc.JdbcSourceConnector": ForeignConnector(
        _SOURCE, _SOURCE_SETTINGS, _SOURCE_DEFAULTS | {"batch.max.rows": "1000"}, _address
    ),
    "io.aiven.connect.jdbc.JdbcSourceConnector": ForeignConnector(
        _SOURCE, _SOURCE_SETTINGS, _SOURCE_DEFAULTS, _address
    ),
    "io.confluent.connect.jdbc.JdbcSinkConnector": ForeignConnector(_SINK, _SINK_SETTINGS, {}, _address),
    "io.aiven.connect.jdbc.JdbcSinkConnector": ForeignConnector(_SINK, _SINK_SETTINGS, {}, _address),
    "io.debezium.connector.jdbc.JdbcSinkConnector": ForeignConnector(
        _SINK, _DEBEZIUM_SETTINGS, {"table.name.format": "${topic}", "batch.size": "500"}, _debezium
    ),
}
