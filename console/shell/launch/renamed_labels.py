"""Three apps had labels unlike the names of their packages; a database of that time gets the names of today."""

from django.db import connections, transaction
from django.db.backends.utils import CursorWrapper

_FORMER = {"departures": "decommission", "rolling": "rolling_restart", "staged": "staged_moves"}
#: Where Django keeps labels, and in which column; a cluster's own database has no permissions.
_LABELS = {"django_migrations": "app", "django_content_type": "app_label"}


def rename_labels(alias: str) -> None:
    """Rename tables, applied migrations and content types of these apps in one transaction. Idempotent."""
    connection = connections[alias]
    with transaction.atomic(using=alias), connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        for former, label in _FORMER.items():
            if "django_migrations" in tables and _is_applied(cursor, former):
                for table in (table for table in tables if table.startswith(f"{former}_")):
                    renamed = label + table.removeprefix(former)
                    cursor.execute(f'ALTER TABLE "{table}" RENAME TO "{renamed}"')
                for table, column in _LABELS.items():
                    if table in tables:
                        cursor.execute(f"UPDATE {table} SET {column} = %s WHERE {column} = %s", [label, former])


def _is_applied(cursor: CursorWrapper, label: str) -> bool:
    cursor.execute("SELECT 1 FROM django_migrations WHERE app = %s", [label])
    return cursor.fetchone() is not None
