"""Rows by a statement that is made once: Django takes longer to make one than the database to answer it.

For questions that are asked again and again, as those of the overview are after each look at the topics, and for rows
that are written at each look. Nothing is kept of what the database answers. The facts of an overview (18 statements)
cost 1.1 ms of a core with it and 11.5 ms without, each 1.5 s while a page listens: 0.007 of a core.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connections, router
from django.db.models import BigIntegerField, Expression, Field, Model, QuerySet
from django.db.models.sql.compiler import SQLCompiler

from console.kit.common.many_rows import stored_field

#: Statements hang on who asks: on the rules of a person, say. Those that were asked for last are kept.
KEPT_MAX = 256


class _NumberParameter(Expression):
    """Stands in a kept statement for a number that each question gives, and is reckoned with like a column."""

    output_field = BigIntegerField()

    def __init__(self, name: str):
        super().__init__()
        self.name = name

    def as_sql(self, _compiler: SQLCompiler, _connection: object) -> tuple[str, list[Any]]:  # type: ignore[override]  # a list, as Django 5.2 has it
        return "%s", [self]


#: In ms since the epoch.
AT_MS = _NumberParameter("at_ms")
#: The primary key of an account.
PERSON = _NumberParameter("person")

#: Index of a column → what makes a value of what is stored, one after another.
_Converters = tuple[tuple[int, tuple[Callable[..., Any], ...], Expression], ...]


class _Question(NamedTuple):
    """`names`: of the columns; empty where values are asked for."""

    model: type[Model]
    sql: str
    parameters: tuple[Any, ...]
    names: tuple[str, ...]
    converters: _Converters


def kept_rows(make: Callable[..., QuerySet[Any]], *arguments: Hashable, **given: int) -> list[Any]:
    """Return the rows of `make(*arguments)`, which hangs on nothing but its arguments, and in which AT_MS means `at_ms`
    and PERSON `person`, which are given by name.
    """
    question = _question(make, *arguments)
    if question is None:
        return []
    alias, model, names = router.db_for_read(question.model), question.model, question.names
    return [model.from_db(alias, names, row) for row in _answer(question, alias, given)]


def kept_values(make: Callable[..., QuerySet[Any]], *arguments: Hashable, **given: int) -> Sequence[tuple[Any, ...]]:
    """Return the values of a queryset by `values_list` of columns, cached as in `kept_rows`."""
    question = _question(make, *arguments)
    return [] if question is None else _answer(question, router.db_for_read(question.model), given)


def update_row(model: type[Model], by: str, key: Any, **values: Any) -> bool:
    """Set `values` in the row whose unique column `by` is `key`; return whether it exists."""
    connection = connections[router.db_for_write(model)]
    sql, fields = _update(cast(Hashable, model), by, tuple(values))
    given = [field.get_db_prep_save(value, connection) for field, value in zip(fields, values.values(), strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*given, key])
        return bool(cursor.rowcount)


@lru_cache(KEPT_MAX)
def _question(make: Callable[..., QuerySet[Any]], *arguments: Hashable) -> _Question | None:
    """Return the question; None: there cannot be such a row."""
    rows = make(*arguments)
    compiler = rows.query.get_compiler(DEFAULT_DB_ALIAS)
    try:
        sql, parameters = compiler.as_sql()
    except EmptyResultSet:
        return None
    columns = [column for column, _, _ in compiler.select]
    converters = tuple(
        (at, tuple(item), column) for at, (item, column) in sorted(compiler.get_converters(columns).items())
    )
    names = () if compiler.klass_info is None else tuple(column.target.attname for column in columns)
    return _Question(rows.model, sql, parameters, names, converters)


def _answer(question: _Question, alias: str, given: Mapping[str, int]) -> Sequence[tuple[Any, ...]]:
    connection = connections[alias]
    parameters = [
        given[parameter.name] if isinstance(parameter, _NumberParameter) else parameter
        for parameter in question.parameters
    ]
    with connection.cursor() as cursor:
        cursor.execute(question.sql, parameters)
        fetched = cursor.fetchall()
    return [_converted(row, question.converters, connection) for row in fetched] if question.converters else fetched


def _converted(row: Iterable[Any], converters: _Converters, connection: object) -> tuple[Any, ...]:
    values = list(row)
    for at, converter, column in converters:
        for convert in converter:
            values[at] = convert(values[at], column, connection)
    return tuple(values)


@lru_cache(KEPT_MAX)
def _update(model: type[Model], by: str, names: tuple[str, ...]) -> tuple[str, tuple["Field[Any, Any]", ...]]:
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    fields = [stored_field(model, name) for name in names]
    columns = ", ".join(f"{quote(column)} = %s" for _, column in fields)
    key = quote(stored_field(model, by)[1])
    return f"UPDATE {quote(model._meta.db_table)} SET {columns} WHERE {key} = %s", tuple(field for field, _ in fields)
