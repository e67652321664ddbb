"""Rows by a statement that is made once: Django takes longer to make one than the database to answer it.

For questions that are asked again and again, as those of the overview are after each look at the topics.
"""

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import BigIntegerField, Expression, Model, QuerySet
from django.db.models.sql.compiler import SQLCompiler

#: Statements hang on who asks: on the rules of a person, say. Those that were asked for last are kept.
KEPT_MAX = 256


class _Moment(Expression):
    """Stands in a kept statement for a moment that each question gives, and is reckoned with like a column."""

    output_field = BigIntegerField()

    def as_sql(self, _compiler: SQLCompiler, _connection: object) -> tuple[str, list[object]]:
        return "%s", [self]


#: In ms since the epoch.
AT_MS = _Moment()


def kept_rows(make: Callable[..., QuerySet], *arguments: Hashable, at_ms: int = 0) -> list[Any]:
    """The rows of `make(*arguments)`, which hangs on nothing but its arguments, and in which AT_MS means `at_ms`."""
    try:
        model, sql, parameters = _statement(make, *arguments)
    except EmptyResultSet:
        return []
    given = [at_ms if isinstance(each, _Moment) else each for each in parameters]
    return list(model._default_manager.raw(sql, given))


@lru_cache(KEPT_MAX)
def _statement(make: Callable[..., QuerySet], *arguments: Hashable) -> tuple[type[Model], str, tuple[object, ...]]:
    rows = make(*arguments)
    return rows.model, *rows.query.sql_with_params()
