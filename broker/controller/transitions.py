"""A machine per key, all with one table of legal transitions; a transition that is not in the table is our error."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Generic, TypeVar

from broker.common.errors import InvariantViolation

Key = TypeVar("Key")
Status = TypeVar("Status", bound=Enum)


class Machines(Generic[Key, Status]):
    """The status of every key. A key nothing was ever said about is `absent`."""

    def __init__(self, may_follow: Mapping[Status, frozenset[Status]], absent: Status):
        self._may_follow = may_follow
        self._absent = absent
        self._status: dict[Key, Status] = {}

    def __getitem__(self, key: Key) -> Status:
        return self._status.get(key, self._absent)

    def find(self, key: Key, status: Status) -> None:
        """Take what ZooKeeper says for the start, without asking how it came about."""
        self._status[key] = status

    def move(self, keys: Iterable[Key], status: Status) -> None:
        """Raises InvariantViolation when the table does not allow it."""
        allowed_from = None
        for key in keys:
            current = self._status.get(key, self._absent)
            if current is not allowed_from:
                if status not in self._may_follow[current]:
                    raise InvariantViolation(f"{key} cannot go from {current.name} to {status.name}")
                allowed_from = current
            if status is self._absent:
                del self._status[key]
            else:
                self._status[key] = status

    def forget(self, keys: Iterable[Key]) -> None:
        """Drop keys whose znodes have vanished, whatever their status."""
        for key in keys:
            self._status.pop(key, None)
