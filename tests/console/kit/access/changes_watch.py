"""Notes what a request changes: rows, the cluster, ZooKeeper, Connect, files, programs. Nothing of it comes to pass.

What is not known as reading counts as a change, so that a new method of a gateway is noted by itself.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections, transaction

from console.kit.gateway.errors import RefusedError

#: What requests write that change nothing: who asked for what, and sessions.
NOTED = {"audit_tally", "audit_auditend", "django_session", "access_failedlogin"}
#: Methods of the gateways that ask, and attributes of the one in memory.
READING = {
    *("describe", "describe_cluster", "describe_topics", "describe_one", "preview_retention", "retention_outlook"),
    *("segments_of", "oldest_records", "newest_records", "topic_settings", "committed_offsets", "record_spans"),
    *("offsets_at", "open_records", "batches_at", "close", "settings", "log_dirs", "software", "request_times"),
    *(
        "not_loaded",
        "quota_uses",
        "look",
        "denials",
        "commits",
        "first_unread",
        "bounds",
        "of_topic",
        "transactions",
        "stable_offsets",
    ),
    *("throttles", "under_way", "assignments", "bytes_held", "topic_ids", "modes", "ensemble", "alive_brokers"),
    *("features", "subscriptions", "check_topic_settings", "stable_offsets", "uncleanable"),
}
_WRITTEN = re.compile(r'\s*(?:INSERT INTO|UPDATE|DELETE FROM|REPLACE INTO)\s+"?(\w+)"?', re.IGNORECASE)
_FILES = {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.link", "os.symlink", "os.truncate"}
_PROGRAMS = {"subprocess.Popen", "os.system", "os.posix_spawn", "os.exec", "os.fork", "os.kill"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass
class Changes:
    """(what, of what, in which words) each."""

    noted: list[tuple[str, str, str]] = field(default_factory=list)

    def note(self, what: str, of: str, words: object = "") -> None:
        self.noted.append((what, of, str(words)[:2_000]))

    @property
    def kinds(self) -> list[str]:
        return sorted(
            {f"{what} {of} {words[:200] if what == 'file' else ''}".strip() for what, of, words in self.noted}
        )


class _Stage:
    """Audit hooks of the interpreter stay for good, so there is one, which asks who listens."""

    listener: Changes | None = None
    is_hooked = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    listener = _Stage.listener
    if listener is None:
        return
    if event in _PROGRAMS:
        listener.note("program", event, arguments)
        raise PermissionError("nothing is started here")
    if event in _FILES or (event == "open" and _is_written(arguments)):
        path = str(arguments[0])
        is_there = event == "os.mkdir" and os.path.isdir(path)
        if not is_there and not _is_own(path):
            listener.note("file", event, path)
            raise PermissionError("nothing is written here")


def _is_written(arguments: tuple[Any, ...]) -> bool:
    path, mode, flags = arguments
    if isinstance(path, int):
        return False  # it was opened by its name before
    return bool(set(mode or "") & set("wax+")) if mode else isinstance(flags, int) and bool(flags & _WRITING)


def _is_own(path: str) -> bool:
    """Of Python, of the audit's end, and of what logs requests."""
    own = (Path(settings.AUDIT_END_FILE).name, Path(settings.REQUEST_LOG_FILE).name)
    return path.endswith((".pyc", "/dev/null")) or "__pycache__" in path or any(item in path for item in own)


class Recorded:
    """A gateway that notes and refuses what changes something, and passes on the rest."""

    def __init__(self, inner: Any, changes: Changes, name: str):
        self.__dict__.update(_inner=inner, _changes=changes, _name=name)

    def __getattr__(self, name: str) -> Any:
        result = getattr(self._inner, name)
        if not callable(result):
            is_part = type(result).__module__.startswith("tests.fakes.")
            return Recorded(result, self._changes, f"{self._name}.{name}") if is_part else result
        return result if name in READING or name.startswith("_") else self._refuser(name)

    def _refuser(self, name: str) -> Callable[..., object]:
        def refuse(*arguments: Any, **named: Any) -> object:
            self._changes.note("gateway", f"{self._name}.{name}", (arguments, named))
            raise RefusedError("NOT_HERE", "Nothing is changed on this stage.")

        return refuse


@contextmanager
def watched(connect: Any = None) -> Iterator[Changes]:
    """Inside of it changes are noted, and rows are as they were once it ends."""
    changes = Changes()
    if not _Stage.is_hooked:
        sys.addaudithook(_hook)
        _Stage.is_hooked = True

    def row(execute: Callable[..., object], sql: str, parameters: Any, many: bool, context: object) -> object:
        written = _WRITTEN.match(sql)
        if written and written[1].lower() not in NOTED and not _is_note(written[1], sql, parameters):
            changes.note("row", written[1], parameters)
        return execute(sql, parameters, many, context)

    count = len(connect.changes()) if connect is not None else 0
    own = settings.CLUSTER_GATEWAY, settings.ZOOKEEPER_GATEWAY
    with ExitStack() as stack:
        stack.enter_context(transaction.atomic())
        for connection in connections.all(initialized_only=True):
            stack.enter_context(connection.execute_wrapper(row))
        settings.CLUSTER_GATEWAY = Recorded(own[0], changes, "cluster")
        settings.ZOOKEEPER_GATEWAY = Recorded(own[1], changes, "zookeeper")
        _Stage.listener = changes
        try:
            yield changes
        finally:
            _Stage.listener = None
            settings.CLUSTER_GATEWAY, settings.ZOOKEEPER_GATEWAY = own
            transaction.set_rollback(True)
    for change in connect.changes()[count:] if connect is not None else ():
        changes.note("connect", change[0], change)


def _is_note(table: str, sql: str, parameters: Any) -> bool:
    """The audit's word of what was refused or failed, and the moment a token was used."""
    if table == "audit_auditevent":
        return "done" not in (parameters or ())
    return table == "access_apitoken" and sql.startswith("UPDATE") and '"used_at"' in sql
