"""One database for each cluster, behind one set of accounts: which rows lie where, and transactions of the right one.

The first cluster's rows lie in the console's own database, so who has one cluster has one database. A row of one
database points at none of another.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from console.kit.common.current_cluster import MAIN, current_cluster

_ALIAS = "cluster-"


def alias_of(cluster: str) -> str:
    return DEFAULT_DB_ALIAS if cluster == MAIN else f"{_ALIAS}{cluster}"


def cluster_of(alias: str) -> str:
    return MAIN if alias == DEFAULT_DB_ALIAS else alias.removeprefix(_ALIAS)


def database_of(cluster: str, of_console: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """Return the settings of a further cluster's database: like the console's, in a file or a schema of its own."""
    database = deepcopy(dict(of_console))
    if database["ENGINE"] == "django.db.backends.sqlite3":
        return database | {"NAME": f"file:{quote(str(file_of(directory, cluster)))}?mode=rw"}
    options = database.get("OPTIONS", {})
    path = f"-c search_path={schema_of(cluster)}"
    return database | {"OPTIONS": options | {"options": f"{options.get('options', '')} {path}".strip()}}


def file_of(directory: Path, cluster: str) -> Path:
    """Return the cluster's file, where SQLite is used."""
    return directory / f"{cluster}.sqlite3"


def schema_of(cluster: str) -> str:
    """Return the cluster's schema, where PostgreSQL is used."""
    return "barnabas_" + cluster.replace("-", "_")


def cluster_database() -> str:
    """Return the alias of the current cluster's database."""
    return alias_of(current_cluster())


def cluster_connection() -> BaseDatabaseWrapper:
    return connections[cluster_database()]


@contextmanager
def cluster_atomic() -> Iterator[None]:
    """Open a transaction of the current cluster's database; also a decorator, with parentheses.

    An audit row within is kept first where it lies in another database: no change is without its row.
    """
    with transaction.atomic(using=cluster_database()):
        yield


def on_cluster_commit(do: Callable[[], object]) -> None:
    """Call `do` when the transaction of the current cluster's database commits; at once outside of one."""
    transaction.on_commit(do, using=cluster_database())


class ClusterRouter:
    """Django's database router. An app without a declared database is an error, not a default."""

    def db_for_read(self, model: Any, **hints: Any) -> str:
        return _database_of(model._meta.app_label, hints.get("instance"))

    db_for_write = db_for_read

    def allow_relation(self, one: Any, other: Any, **_hints: Any) -> bool | None:
        """Allow a row of a cluster to name an account, without a constraint; otherwise as Django decides."""
        apps = {one._meta.app_label, other._meta.app_label}
        return True if apps & settings.APPS_OF_CONSOLE and apps & settings.APPS_OF_CLUSTER else None

    def allow_migrate(self, db: str, app_label: str, **_hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS or app_label in settings.APPS_OF_CLUSTER


def _database_of(app_label: str, instance: Any) -> str:
    if app_label in settings.APPS_OF_CONSOLE:
        return DEFAULT_DB_ALIAS
    if app_label not in settings.APPS_OF_CLUSTER:
        raise LookupError(f"The database of {app_label} is not known: declare it in feature.py of its package.")
    is_of_cluster = instance is not None and instance._meta.app_label in settings.APPS_OF_CLUSTER
    return (instance._state.db if is_of_cluster else None) or cluster_database()
