from datetime import UTC, datetime
from decimal import Decimal

import pytest
import sqlalchemy as sa

from broker.connect.api import ConnectError, Field, RetriableError, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.plugins.sql.sink import SqlSinkConnector, SqlSinkTask, _schema_and_name
from tests.broker.connect.plugins.runner import SinkContext, sink_record, started

ODD = 'a "b"; DROP TABLE t; -- %s :x'
FIELDS = (
    Field("id", types.INT64),
    Field(ODD, Schema(Type.STRING, optional=True)),
    Field("price", types.decimal_schema(2, True)),
    Field("at", types.timestamp_schema(True)),
)
ROW = Schema(Type.STRUCT, fields=FIELDS)
WIDER = Schema(Type.STRUCT, fields=(*FIELDS, Field("more", Schema(Type.BOOLEAN, optional=True))))
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_key", "pk.fields": "id", "delete.enabled": "true"}
MAKES = {"auto.create": "true", "auto.evolve": "true"}


def record(offset, key, text="x", schema=ROW, **more):
    value = Struct(
        schema, {"id": key, ODD: text, "price": Decimal("1.50"), "at": datetime(2024, 1, 1, tzinfo=UTC), **more}
    )
    return sink_record(offset, value, schema, key=key, key_schema=types.INT64)


def tombstone(offset, key):
    return sink_record(offset, None, key=key, key_schema=types.INT64)


def rows(engine, what="*"):
    with engine.connect() as connection:
        return [tuple(item) for item in connection.exec_driver_sql(f"SELECT {what} FROM t ORDER BY id")]


def test_upserts_and_deletions_leave_what_the_last_record_says_also_repeated(database):
    props, engine = database
    task = started(SqlSinkTask(), {**props, **UPSERT, **MAKES}, SinkContext())
    batch = [record(0, 1, "a"), record(1, 2, "b"), record(2, 1, "c"), tombstone(3, 2), record(4, 3, "d")]
    for _ in range(2):
        task.put(batch)
        assert rows(engine, "id, price") == [(1, Decimal("1.50")), (3, Decimal("1.50"))] or rows(
            engine, "id, price"
        ) == [
            (1, 1.5),
            (3, 1.5),
        ]
    task.put([record(5, 1, "w", WIDER, more=True)])
    assert len(rows(engine)[0]) == 5
    task.stop()


def test_a_table_lies_in_the_schema_that_its_format_names(database):
    props, engine = database
    schema = "main" if engine.dialect.name == "sqlite" else "audit"
    if schema == "audit":
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE SCHEMA IF NOT EXISTS audit")
    format_of_name = {"table.name.format": f"{schema}.x_${{topic}}"}
    task = started(SqlSinkTask(), {**props, **UPSERT, **MAKES, **format_of_name}, SinkContext())
    task.put([record(0, 1), record(1, 1, schema=WIDER, more=True)])
    with engine.begin() as connection:
        assert connection.exec_driver_sql(f"SELECT id, more FROM {schema}.x_t").fetchall() == [(1, True)]
        assert "x_t" not in sa.inspect(connection).get_table_names() or schema == "main"
        connection.exec_driver_sql(f"DROP TABLE {schema}.x_t")
    task.stop()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("${topic}", (None, "${topic}")),
        ("a.${topic}", ("a", "${topic}")),
        ("a.b_${topic}.c", ("a", "b_${topic}.c")),
        ("a.b", ("a", "b")),
        ("b", (None, "b")),
    ],
)
def test_a_dot_of_the_format_divides_schema_and_name(text, parts):
    assert _schema_and_name(text) == parts


def test_inserts_append_and_updates_touch_only_what_is_there(database):
    props, engine = database
    started(SqlSinkTask(), {**props, **MAKES}, SinkContext()).put([record(0, 1), record(1, 1)])
    assert len(rows(engine)) == 2
    update = {**props, "insert.mode": "update", "pk.mode": "record_value", "pk.fields": "id"}
    started(SqlSinkTask(), update, SinkContext()).put([record(2, 1, "new"), record(3, 9, "new")])
    with engine.connect() as connection:
        table = sa.Table("t", sa.MetaData(), autoload_with=connection)
        assert list(connection.execute(sa.select(table.c[ODD])).scalars()) == ["new", "new"]


def test_one_poison_row_goes_to_the_dead_letters_and_the_others_arrive(database):
    props, engine = database
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (id BIGINT PRIMARY KEY CHECK (id < 10))")
    schema = Schema(Type.STRUCT, fields=FIELDS[:1])
    made = [sink_record(number, Struct(schema, {"id": item}), schema) for number, item in enumerate([1, 99, 2])]
    context = SinkContext()
    started(SqlSinkTask(), props, context).put([*made, sink_record(3, {"id": 5})])
    assert rows(engine, "id") == [(1,), (2,)]
    assert sorted(item.offset for item, _ in context.errant) == [1, 3]


def test_without_leave_no_table_is_made(database):
    props, _ = database
    context = SinkContext()
    started(SqlSinkTask(), props, context).put([record(0, 1)])
    assert "auto.create is false" in str(context.errant[0][1])


def test_a_database_that_is_away_is_tried_again_and_then_told(tmp_path):
    props = {"connection.url": "postgresql://127.0.0.1:1/x", "max.retries": "1", "retry.backoff.ms": "7"}
    context = SinkContext()
    task = started(SqlSinkTask(), props, context)
    with pytest.raises(RetriableError):
        task.put([record(0, 1)])
    assert context.timeouts == [7]
    with pytest.raises(ConnectError, match="after 2 tries"):
        task.put([record(0, 1)])


def test_settings_that_contradict_each_other_are_named():
    values = SqlSinkConnector().validate(
        {"connection.url": "sqlite:////tmp/x.db", "insert.mode": "upsert", "delete.enabled": "true"}
    )
    assert {item.name for item in values if item.errors} == {"pk.mode", "delete.enabled"}


def test_a_records_place_is_its_key(database):
    props, engine = database
    place = {"insert.mode": "upsert", "pk.mode": "kafka", **MAKES}
    task = started(SqlSinkTask(), {**props, **place}, SinkContext())
    for _ in range(2):
        task.put([record(0, 1), record(1, 1)])
    columns = "__connect_topic, __connect_partition, __connect_offset, id"
    assert rows(engine, columns) == [("t", 0, 0, 1), ("t", 0, 1, 1)]
    task.stop()


def test_fields_that_are_not_wanted_are_left_out(database):
    props, engine = database
    task = started(SqlSinkTask(), {**props, **MAKES, "fields.whitelist": "id,price"}, SinkContext())
    task.put([record(0, 1)])
    assert len(rows(engine)[0]) == 2
    task.stop()


def test_all_fields_are_the_key_where_none_is_named(database):
    props, engine = database
    task = started(SqlSinkTask(), {**props, **MAKES, "pk.mode": "record_value"}, SinkContext())
    task.put([record(0, 1)])
    assert len(sa.inspect(engine).get_pk_constraint("t")["constrained_columns"]) == len(FIELDS)
    task.stop()


def test_a_moment_is_written_in_the_databases_zone(database):
    props, engine = database
    made = sa.Table("t", sa.MetaData(), sa.Column("id", sa.BigInteger), sa.Column("at", sa.DateTime))
    made.create(engine)
    wanted = {"fields.whitelist": "id,at", "db.timezone": "Asia/Tokyo"}
    task = started(SqlSinkTask(), {**props, **wanted}, SinkContext())
    task.put([record(0, 1)])
    with engine.connect() as connection:
        assert connection.execute(made.select()).one().at == datetime(2024, 1, 1, 9)  # noqa: DTZ001
    task.stop()


@pytest.mark.parametrize(
    ("more", "key"),
    [({"pk.mode": "kafka", "pk.fields": "a,b"}, "pk.fields"), ({"db.timezone": "Mars/North"}, "db.timezone")],
)
def test_a_setting_that_cannot_be_is_named(more, key):
    values = SqlSinkConnector().validate({"connection.url": "sqlite:////tmp/x.db", **more})
    assert [item.name for item in values if item.errors] == [key]


def names_of(*names):
    return Schema(Type.STRUCT, fields=tuple(Field(name, types.INT64) for name in names))


@pytest.mark.parametrize("mode", ["upsert", "update"])
def test_a_row_that_is_all_key_changes_nothing_where_it_is(database, mode):
    """kafka-connect-jdbc 667: "syntax error at end of input … DO UPDATE SET"."""
    props, engine = database
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (id BIGINT, role BIGINT, PRIMARY KEY (id, role))")
        connection.exec_driver_sql("INSERT INTO t VALUES (1, 2)")
    schema, context = names_of("id", "role"), SinkContext()
    key = Struct(schema, {"id": 1, "role": 2})
    task = started(SqlSinkTask(), {**props, "insert.mode": mode, "pk.mode": "record_key"}, context)
    task.put([sink_record(0, key, schema, key=key, key_schema=schema)])
    assert (rows(engine), context.errant) == ([(1, 2)], [])
    task.stop()


def test_fields_find_columns_that_differ_in_case_only(database):
    """kafka-connect-jdbc 183: a table whose columns are spelled otherwise was to be widened by them."""
    props, engine = database
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (id BIGINT PRIMARY KEY, note BIGINT)")
    schema, context = names_of("ID", "Note"), SinkContext()
    task = started(SqlSinkTask(), {**props, **MAKES, **UPSERT, "pk.fields": "ID"}, context)
    for note in (7, 8):
        value = Struct(schema, {"ID": 1, "Note": note})
        task.put([sink_record(0, value, schema, key=1, key_schema=types.INT64)])
    task.put([tombstone(1, 5)])
    assert (rows(engine), context.errant) == ([(1, 8)], [])
    task.stop()


def test_two_fields_never_share_a_column(database):
    props, engine = database
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (id BIGINT PRIMARY KEY)")
    schema, context = names_of("id", "ID"), SinkContext()
    task = started(SqlSinkTask(), props, context)
    task.put([sink_record(0, Struct(schema, {"id": 1, "ID": 2}), schema)])
    assert rows(engine) == []
    assert "has no column ID" in str(context.errant[0][1])
    task.stop()


def test_a_text_becomes_the_document_that_it_is(database):
    """kafka-connect-jdbc 46 and 1375: JSON in a text field, for a column of JSON."""
    props, engine = database
    kind = "JSON" if engine.dialect.name == "sqlite" else "JSONB"
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE TABLE t (id BIGINT PRIMARY KEY, j {kind})")
    schema = Schema(Type.STRUCT, fields=(Field("id", types.INT64), Field("j", Schema(Type.STRING, optional=True))))
    task = started(SqlSinkTask(), {**props, **UPSERT}, SinkContext())
    for text in ('{"a": 0}', '{"a": 1}'):
        task.put([sink_record(0, Struct(schema, {"id": 1, "j": text}), schema, key=1, key_schema=types.INT64)])
    task.put([sink_record(1, Struct(schema, {"id": 2}), schema, key=2, key_schema=types.INT64)])
    assert rows(engine, "j ->> 'a'") in ([("1",), (None,)], [(1,), (None,)])
    task.stop()
