"""Rows by the thousand, written by hand: as objects they cost the collector several times as much, at each look."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import Field, JSONField, Model

from console.kit.common.databases import cluster_connection

#: SQLite takes no more than 32,766 values in a statement, older ones 999.
_VALUES_PER_QUERY = 500


def stored_field(model: type[Model], name: str) -> tuple["Field[Any, Any]", str]:
    """Return the field `name` of `model` and its column. Raises FieldDoesNotExist also for one without a column."""
    field = model._meta.get_field(name)
    if not isinstance(field, Field) or field.column is None:
        raise FieldDoesNotExist(f"{model.__name__}.{name} has no column.")
    return field, field.column


def put_rows(model: type[Model], unique: Sequence[str], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows of `unique` and `fields`, in this order; where `unique` is there the `fields` are replaced."""
    connection = cluster_connection()
    quote = connection.ops.quote_name
    columns = [stored_field(model, name) for name in (*unique, *fields)]
    names = [quote(column) for _, column in columns]
    replaced = ", ".join(f"{name} = EXCLUDED.{name}" for name in names[len(unique) :])
    statement = (
        f"INSERT INTO {quote(model._meta.db_table)} ({', '.join(names)}) VALUES ({', '.join(['%s'] * len(names))}) "
        f"ON CONFLICT ({', '.join(names[: len(unique)])}) DO UPDATE SET {replaced}"
    )
    in_json = [at for at, (column, _) in enumerate(columns) if isinstance(column, JSONField)]
    adapt = _remembering(lambda value: connection.ops.adapt_json_value(value, None))
    with connection.cursor() as cursor:
        cursor.executemany(statement, [_adapted(row, in_json, adapt) for row in rows])


def keys_of(model: type[Model], by: str, values: Sequence[Any]) -> dict[Any, int]:
    """Return the primary keys of the rows whose unique column `by` is one of `values`, in the order of these."""
    connection = cluster_connection()
    table, column, key = map(
        connection.ops.quote_name,
        (model._meta.db_table, stored_field(model, by)[1], stored_field(model, model._meta.pk.name)[1]),
    )
    keys: dict[Any, int] = {}
    with connection.cursor() as cursor:
        for at in range(0, len(values), _VALUES_PER_QUERY):
            some = values[at : at + _VALUES_PER_QUERY]
            marks = ", ".join(["%s"] * len(some))
            cursor.execute(f"SELECT {column}, {key} FROM {table} WHERE {column} IN ({marks})", some)
            keys.update(cursor.fetchall())
    return {value: keys[value] for value in values if value in keys}


def update_rows(model: type[Model], by: str, field: str, values: Mapping[Any, Any]) -> None:
    """Set `field` of the rows whose `by` is a key of `values`; what is not there is left out."""
    connection = cluster_connection()
    table, column, key = map(
        connection.ops.quote_name,
        (model._meta.db_table, stored_field(model, field)[1], stored_field(model, by)[1]),
    )
    with connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {table} SET {column} = %s WHERE {key} = %s", [(v, k) for k, v in values.items()])


def _adapted(row: Sequence[Any], in_json: Iterable[int], adapt: Callable[[Any], Any]) -> list[Any]:
    values = list(row)
    for at in in_json:
        values[at] = adapt(values[at])
    return values


def _remembering(adapt: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Cache the adapted value where it can be a key: thousands of partitions have the same replicas."""
    known: dict[Any, Any] = {}

    def adapted(value: Any) -> Any:
        try:
            if value not in known:
                known[value] = adapt(value)
        except TypeError:
            return adapt(value)
        return known[value]

    return adapted
