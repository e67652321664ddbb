from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
import sqlalchemy as sa

from broker.connect.api import ConfigError, ConnectError, RetriableError, Type
from broker.connect.api.schema import DATE, DECIMAL, TIMESTAMP, validate_value
from broker.connect.plugins.sql.source import SqlSourceConnector, SqlSourceTask
from tests.broker.connect.plugins.runner import SourceContext, polled, started

ODD = '"odd ""name"""'
BEGIN = datetime(2024, 1, 1)  # noqa: DTZ001


def table_in(engine):
    table = sa.Table(
        'odd "name"',
        sa.MetaData(),
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("price", sa.Numeric(10, 2)),
        sa.Column("label", sa.Text),
        sa.Column("data", sa.LargeBinary),
        sa.Column("on", sa.Boolean),
    )
    table.metadata.create_all(engine)
    return table


def insert(engine, table, *rows):
    with engine.begin() as connection:
        connection.execute(
            table.insert(),
            [
                {
                    "id": number,
                    "at": BEGIN + timedelta(seconds=second),
                    "price": Decimal("1.50"),
                    "label": "a",
                    "on": True,
                }
                for number, second in rows
            ],
        )


def ids(records):
    return [record.value["id"] for record in records]


BY = {
    "incrementing.column.name": "id",
    "timestamp.column.name": "at",
    "table.whitelist": 'odd "name"',
    "topic.prefix": "p.",
}


@pytest.mark.parametrize("mode", ["incrementing", "timestamp", "timestamp+incrementing"])
def test_new_rows_come_once_typed_and_a_restart_goes_on(database, mode):
    props, engine = database
    table = table_in(engine)
    insert(engine, table, (1, 1), (2, 2), (3, 3))
    context = SourceContext()
    props = {**props, **BY, "mode": mode, "batch.max.rows": "2"}
    task = started(SqlSourceTask(), props, context)
    first = polled(task, 3)
    assert ids(first) == [1, 2, 3]
    assert first[0].topic == 'p.odd "name"'
    for item in first:
        validate_value(item.value_schema, item.value)
    assert first[0].value["price"] == Decimal("1.50")
    assert first[0].value["at"] == (BEGIN + timedelta(seconds=1)).replace(tzinfo=UTC)
    assert task.poll() == []
    context.store(first[:2])
    task.stop()
    insert(engine, table, (4, 4))
    assert ids(polled(started(SqlSourceTask(), props, context), 2)) == [3, 4]


def test_rows_of_one_moment_are_never_split(database):
    props, engine = database
    table = table_in(engine)
    insert(engine, table, (1, 1), *((number, 2) for number in range(2, 8)), (8, 3))
    task = started(SqlSourceTask(), {**props, **BY, "mode": "timestamp", "batch.max.rows": "3"}, SourceContext())
    polls = [sorted(ids(task.poll())) for _ in range(3)]
    assert polls == [[1], [2, 3, 4, 5, 6, 7], [8]]


def test_a_row_that_is_changed_comes_again_by_its_moment(database):
    props, engine = database
    table = table_in(engine)
    insert(engine, table, (1, 1), (2, 2))
    task = started(SqlSourceTask(), {**props, **BY, "mode": "timestamp+incrementing"}, SourceContext())
    polled(task, 2)
    with engine.begin() as connection:
        connection.execute(table.update().where(table.c.id == 1).values(at=BEGIN + timedelta(seconds=9), label="b"))
    assert [item.value["label"] for item in polled(task, 1)] == ["b"]


def test_bulk_and_a_query(database):
    props, engine = database
    insert(engine, table_in(engine), (1, 1), (2, 2))
    bulk = {**props, "mode": "bulk", "table.whitelist": 'odd "name"'}
    assert ids(started(SqlSourceTask(), bulk, SourceContext()).poll()) == [1, 2]
    query = {
        **props,
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "query": 'SELECT id, label FROM "odd ""name"""',
        "topic.prefix": "q",
    }
    records = polled(started(SqlSourceTask(), query, SourceContext([({"query": "query"}, {"incrementing": 1})])), 1)
    assert [(record.topic, dict(record.value)) for record in records] == [("q", {"id": 2, "label": "a"})]


def test_colons_comments_and_the_end_of_a_query_are_left_alone(database):
    props, engine = database
    insert(engine, table_in(engine), (1, 1), (2, 2))
    text = rf"""SELECT id, 'x :b' AS a, '{{"k":1}}' AS b, '\:c' AS c, '100%' AS d FROM {ODD}"""
    query = {**props, "mode": "incrementing", "incrementing.column.name": "id", "topic.prefix": "q"}
    for ending in ("", " ; ", " -- and a comment :d"):
        records = polled(started(SqlSourceTask(), query | {"query": text + ending}, SourceContext()), 2)
        assert dict(records[0].value) == {"id": 1, "a": "x :b", "b": '{"k":1}', "c": r"\:c", "d": "100%"}


def test_a_wrong_query_ends_its_task_and_is_not_tried_for_ever(database):
    props, _ = database
    query = {**props, "mode": "bulk", "query": "SELECT FROM WHERE", "topic.prefix": "q"}
    with pytest.raises(ConnectError) as refused:
        started(SqlSourceTask(), query, SourceContext()).poll()
    assert not isinstance(refused.value, RetriableError)


def test_a_column_that_is_added_comes_with_the_next_row(database):
    props, engine = database
    table = table_in(engine)
    insert(engine, table, (1, 1))
    task = started(SqlSourceTask(), {**props, **BY, "mode": "timestamp+incrementing"}, SourceContext())
    assert "extra" not in dict(polled(task, 1)[0].value)
    with engine.begin() as connection:
        connection.execute(sa.text(f"ALTER TABLE {ODD} ADD COLUMN extra TEXT"))
        connection.execute(table.update().values(at=BEGIN + timedelta(seconds=9)))
        connection.execute(sa.text(f"UPDATE {ODD} SET extra = 'e'"))
    (record,) = polled(task, 1)
    assert (record.value["extra"], [field.name for field in record.value_schema.fields][-1]) == ("e", "extra")
    validate_value(record.value_schema, record.value)


def test_a_document_is_the_text_that_the_database_has(database):
    props, engine = database
    kind = "jsonb" if engine.dialect.name == "postgresql" else "JSON"
    with engine.begin() as connection:
        connection.execute(sa.text(f"CREATE TABLE documents (id INTEGER PRIMARY KEY, j {kind})"))
        connection.execute(sa.text("""INSERT INTO documents VALUES (1, '{"a": ["ä", null]}')"""))
    by = {"mode": "incrementing", "incrementing.column.name": "id", "topic.prefix": "p"}
    for which in ({"table.whitelist": "documents"}, {"query": "SELECT * FROM documents"}):
        (record,) = polled(started(SqlSourceTask(), {**props, **by, **which}, SourceContext()), 1)
        assert record.value["j"] == '{"a": ["ä", null]}'


def test_all_rows_come_a_batch_at_a_time_as_they_were_when_the_first_was_read(database):
    props, engine = database
    table = table_in(engine)
    insert(engine, table, *((n, n) for n in range(1, 8)))
    bulk = {**props, "mode": "bulk", "table.whitelist": 'odd "name"', "batch.max.rows": "3", "poll.interval.ms": "1"}
    task = started(SqlSourceTask(), bulk, SourceContext())
    assert [ids(task.poll()) for _ in range(4)] == [[1, 2, 3], [4, 5, 6], [7], [1, 2, 3]]
    task.stop()
    assert task.poll() == []
    insert(engine, table, (8, 8))


def test_a_task_that_is_stopped_within_a_statement_waits_for_nothing_and_gives_its_connection_back(database):
    props, engine = database
    insert(engine, table_in(engine), *((n, n) for n in range(1, 8)))
    bulk = {**props, "mode": "bulk", "table.whitelist": 'odd "name"', "batch.max.rows": "3"}
    task = started(SqlSourceTask(), bulk, SourceContext())
    pool = task._engine.pool
    inner = task._readers[0].read
    task._readers[0].read = lambda: (task.stop(), inner())[1]
    assert len(task.poll()) == 3
    assert pool.checkedout() == 0


def test_a_table_that_is_not_there_ends_the_task_with_its_name(database):
    props, _ = database
    with pytest.raises(ConnectError, match="nothing"):
        started(SqlSourceTask(), {**props, "mode": "bulk", "table.whitelist": "nothing"}, SourceContext()).poll()


def test_tables_are_shared_among_tasks_and_contradictions_named():
    connector = SqlSourceConnector()
    connector.start({"connection.url": "sqlite:////tmp/x.db", "mode": "bulk", "table.whitelist": "a,b,c"}, None)
    assert [config["table.whitelist"] for config in connector.task_configs(2)] == ["a,c", "b"]
    errors = {
        item.name for item in connector.validate({"connection.url": "mysql://x", "mode": "incrementing"}) if item.errors
    }
    assert errors == {"connection.url", "incrementing.column.name"}
    both = {"connection.url": "sqlite:////tmp/x.db", "mode": "bulk", "table.whitelist": "a,x.a", "table.blacklist": "b"}
    assert {item.name for item in connector.validate(both) if item.errors} == {"table.whitelist", "table.blacklist"}
    with pytest.raises(ConfigError, match="password"):
        connector.start({"connection.url": "postgresql://u:secret@h/d", "mode": "bulk", "table.whitelist": "a"}, None)


def test_a_querys_types_are_those_of_its_columns_not_of_a_rows_values(database):
    props, engine = database
    made = sa.Table(
        "fruits", sa.MetaData(),
        sa.Column("id", sa.Integer, primary_key=True), sa.Column("price", sa.Numeric(10, 2)), sa.Column("on", sa.Date),
        sa.Column("weight", sa.Float), sa.Column("at", sa.DateTime), sa.Column("is_ripe", sa.Boolean),
    )  # fmt: skip
    made.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(made.insert(), [
            {"id": 1, "price": Decimal("1.50"), "on": date(2024, 5, 1), "weight": 2.5, "at": BEGIN, "is_ripe": True},
            {"id": 2, "price": None, "on": None, "weight": None, "at": None, "is_ripe": None},
        ])  # fmt: skip
    query = {**props, "mode": "bulk", "topic.prefix": "q", "query": "SELECT * FROM fruits f ORDER BY id"}
    typed, empty = polled(started(SqlSourceTask(), query, SourceContext()), 2)
    assert typed.value_schema == empty.value_schema
    shown = {field.name: field.schema.name or field.schema.type for field in typed.value_schema.fields}
    assert (shown["price"], shown["on"], shown["at"]) == (DECIMAL, DATE, TIMESTAMP)
    assert (shown["weight"], shown["is_ripe"]) == (Type.FLOAT64, Type.BOOLEAN)
    assert typed.value["price"] == Decimal("1.50")
    assert typed.value["at"] == BEGIN.replace(tzinfo=UTC)
    assert set(dict(empty.value).values()) == {2, None}


def test_what_a_query_computes_keeps_the_type_of_its_first_value(database):
    props, engine = database
    insert(engine, table_in(engine), (1, 1), (2, 2))
    text = f"SELECT id, CASE id WHEN 1 THEN NULL ELSE 7 END AS n, count(*) OVER () AS c FROM {ODD} ORDER BY id"
    query = {**props, "mode": "bulk", "topic.prefix": "q", "query": text}
    first, second = polled(started(SqlSourceTask(), query, SourceContext()), 2)
    assert first.value_schema == second.value_schema
    assert (dict(first.value), dict(second.value)) == ({"id": 1, "n": None, "c": 2}, {"id": 2, "n": 7, "c": 2})


def test_without_names_all_tables_are_read_and_new_ones_are_noticed(database):
    props, engine = database
    clock = ManualSeconds()
    for name in ("pears", "plums", "tools"):
        sa.Table(name, sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True)).create(engine)
    with engine.begin() as connection:
        for name in ("pears", "plums", "tools"):
            connection.exec_driver_sql(f"INSERT INTO {name} VALUES (1)")
    by = {**props, "mode": "incrementing", "incrementing.column.name": "id", "topic.prefix": "p."}
    task = started(SqlSourceTask(clock), by | {"table.blacklist": "tools"}, SourceContext())
    assert {record.topic for record in polled(task, 2)} == {"p.pears", "p.plums"}
    sa.Table("quinces", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True)).create(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO quinces VALUES (1)")
    assert task.poll() == []
    clock.now_s += 61
    assert [record.topic for record in polled(task, 1)] == ["p.quinces"]
    task.stop()


class ManualSeconds:
    now_s = 0.0

    def __call__(self):
        return self.now_s


def test_a_tables_schema_is_no_part_of_its_topic(database):
    props, engine = database
    schema = "main" if engine.dialect.name == "sqlite" else "public"
    sa.Table("pears", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True)).create(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO pears VALUES (1)")
    for more in ({"table.whitelist": f"{schema}.pears"}, {"table.whitelist": "pears", "schema.pattern": schema}):
        task = started(SqlSourceTask(), {**props, "mode": "bulk", "topic.prefix": "p.", **more}, SourceContext())
        assert [record.topic for record in polled(task, 1)] == ["p.pears"]
        task.stop()


def test_a_moment_without_a_zone_is_one_of_the_databases_zone(database):
    props, engine = database
    insert(engine, table_in(engine), (1, 0))
    by = {**props, **BY, "mode": "timestamp", "db.timezone": "Asia/Tokyo"}
    (record,) = polled(started(SqlSourceTask(), by, SourceContext()), 1)
    assert record.value["at"] == datetime(2023, 12, 31, 15, tzinfo=UTC)


def test_a_row_without_its_moment_is_left_out_where_it_may_be(database):
    props, engine = database
    made = sa.Table(
        "pears", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("at", sa.DateTime),
        sa.Column("number", sa.Integer),
    )  # fmt: skip
    made.create(engine)
    with engine.begin() as connection:
        connection.execute(made.insert(), [{"id": 1, "at": None, "number": None}, {"id": 2, "at": BEGIN, "number": 7}])
    by = {**props, **BY, "table.whitelist": "pears", "mode": "timestamp"}
    with pytest.raises(ConnectError, match=r"Column at of pears may be null, .*validate\.non\.null=false"):
        started(SqlSourceTask(), by, SourceContext()).poll()
    assert ids(polled(started(SqlSourceTask(), by | {"validate.non.null": "false"}, SourceContext()), 1)) == [2]
    number = by | {"mode": "incrementing", "incrementing.column.name": "number", "validate.non.null": "false"}
    assert [r.value["number"] for r in polled(started(SqlSourceTask(), number, SourceContext()), 1)] == [7]


@pytest.mark.parametrize(
    ("mapping", "kinds"),
    [
        ("none", [DECIMAL, DECIMAL, DECIMAL]),
        ("precision_only", [Type.INT16, DECIMAL, DECIMAL]),
        ("best_fit", [Type.INT16, Type.FLOAT64, DECIMAL]),
        ("best_fit_eager_double", [Type.INT16, Type.FLOAT64, Type.FLOAT64]),
    ],
)
def test_numerics_become_what_their_digits_allow(database, mapping, kinds):
    props, engine = database
    made = sa.Table(
        "pears", sa.MetaData(), sa.Column("a", sa.Numeric(4, 0)), sa.Column("b", sa.Numeric(10, 2)),
        sa.Column("c", sa.Numeric(30, 2)),
    )  # fmt: skip
    made.create(engine)
    with engine.begin() as connection:
        connection.execute(made.insert(), [{"a": 4, "b": Decimal("1.25"), "c": Decimal("2.50")}])
    for what in ({"table.whitelist": "pears"}, {"query": "SELECT a, b, c FROM pears", "topic.prefix": "q"}):
        by = {**props, "mode": "bulk", "numeric.mapping": mapping, **what}
        (record,) = polled(started(SqlSourceTask(), by, SourceContext()), 1)
        assert [field.schema.name or field.schema.type for field in record.value_schema.fields] == kinds
        assert list(record.value.values()) == [4, 1.25, 2.5]
        record.value.validate()


def filled(engine, *statements):
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def read_twice(props, **by):
    """Return the records of a task, and those of one that goes on behind their first."""
    context = SourceContext()
    settings = {**props, "topic.prefix": "p.", "table.whitelist": "pears", "poll.interval.ms": "1", **by}
    task = started(SqlSourceTask(), settings, context)
    first = polled(task, 2)
    context.store(first[:1])
    task.stop()
    return first, polled(started(SqlSourceTask(), settings, context), 1)


def test_a_number_of_arbitrary_digits_may_be_the_growing_one(database):
    """kafka-connect-jdbc 31: "Invalid type of incrementing column: BYTES" of a NUMBER."""
    props, engine = database
    filled(engine, "CREATE TABLE pears (id NUMERIC(20, 0) PRIMARY KEY)", "INSERT INTO pears VALUES (1), (2)")
    first, again = read_twice(props, mode="incrementing", **{"incrementing.column.name": "id"})
    assert ([r.value["id"] for r in first], [r.source_offset for r in again]) == ([1, 2], [{"incrementing": 2}])


@pytest.mark.parametrize(("kind", "values"), [("NUMERIC(6, 2)", "(1.5)"), ("DATE", "('2024-01-01')")])
def test_what_cannot_be_the_growing_number_ends_the_task_with_a_sentence(database, kind, values):
    props, engine = database
    filled(engine, f"CREATE TABLE pears (id {kind} PRIMARY KEY)", f"INSERT INTO pears VALUES {values}")
    with pytest.raises(ConnectError, match=r"pears\.id has the value .*: incrementing\.column\.name needs whole numb"):
        read_twice(props, mode="incrementing", **{"incrementing.column.name": "id"})


def test_columns_are_found_whatever_their_case(database):
    """kafka-connect-jdbc 664 and 1144: timestamp.column.name=timestamp, and the column is Timestamp."""
    props, engine = database
    filled(
        engine,
        'CREATE TABLE pears (id BIGINT PRIMARY KEY, "Timestamp" TIMESTAMP NOT NULL)',
        "INSERT INTO pears VALUES (1, '2024-01-01 00:00:00'), (2, '2024-01-02 00:00:00')",
    )
    by = {"mode": "timestamp+incrementing", "timestamp.column.name": "timestamp", "incrementing.column.name": "ID"}
    assert [ids(records) for records in read_twice(props, **by)] == [[1, 2], [2]]


def test_the_first_moment_that_is_there_counts(database):
    """Confluent's timestamp.column.name is a list: a row that was never changed has its moment of creation."""
    props, engine = database
    filled(
        engine,
        "CREATE TABLE pears (id BIGINT PRIMARY KEY, changed TIMESTAMP, made TIMESTAMP NOT NULL)",
        "INSERT INTO pears VALUES (1, NULL, '2021-01-01 00:00:00'), "
        "(2, '2021-04-05 00:00:00', '2020-03-01 00:00:00'), (3, NULL, '2021-02-01 00:00:00')",
    )
    by = {"mode": "timestamp", "timestamp.column.name": "changed, made", "batch.max.rows": "2"}
    first, again = read_twice(props, **by)
    assert (ids(first), ids(again)) == ([1, 3], [3, 2])
    assert again[-1].source_offset == {"timestamp": "2021-04-05T00:00:00"}


def test_postgresqls_own_types_are_its_texts(postgres):
    props = {"connection.url": postgres, "connection.user": "tester"}
    url = sa.make_url(postgres.replace("postgresql:", "postgresql+psycopg:"))
    engine = sa.create_engine(url.set(username="tester"))
    filled(
        engine,
        "DROP TABLE IF EXISTS pears",
        "CREATE TABLE pears (a INTERVAL, b INT4RANGE, c DATERANGE)",
        "INSERT INTO pears VALUES (interval '1 mon 2 days 03:00', int4range(1, 5), daterange('2024-01-01', null))",
    )
    try:
        for what in ({"table.whitelist": "pears"}, {"query": "SELECT * FROM pears", "topic.prefix": "q"}):
            (record,) = polled(started(SqlSourceTask(), {**props, "mode": "bulk", **what}, SourceContext()), 1)
            assert list(record.value.values()) == ["1 mon 2 days 03:00:00", "[1,5)", "[2024-01-01,)"]
    finally:
        filled(engine, "DROP TABLE pears")
        engine.dispose()
