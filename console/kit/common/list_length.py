"""How long a list of a row is, as the database counts it: of many partitions only those that matter are read."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, IntegerField
from django.db.models.sql.compiler import SQLCompiler


class ListLength(Func):
    """`ListLength("isr")`: elements of a JSON column that holds a list."""

    function = "JSONB_ARRAY_LENGTH"
    arity = 1
    output_field = IntegerField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, tuple[Any, ...]]:
        return self.as_sql(compiler, connection, function="JSON_ARRAY_LENGTH", **context)
