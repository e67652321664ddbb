"""`name__glob="orders-*"`: patterns as the database matches them, with the capitals counted.

Django's own `startswith` does not count capitals on SQLite, so it would show `Secret` by a rule on `secret`.
"""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Lookup
from django.db.models.sql.compiler import SQLCompiler

_LIKE = {"*": "%", "?": "_", "%": r"\%", "_": r"\_", "\\": r"\\"}


@CharField.register_lookup
class Glob(Lookup):
    lookup_name = "glob"

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        """Return GLOB or LIKE; in PostgreSQL LIKE is case sensitive."""
        return self._written(compiler, connection, "LIKE", "".join(_LIKE.get(letter, letter) for letter in self.rhs))

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        return self._written(compiler, connection, "GLOB", self.rhs.replace("[", "[[]"))

    def _written(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, operator: str, pattern: str
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        return f"{column} {operator} %s", (*parameters, pattern)
