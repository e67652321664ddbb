"""Logs once each configuration key that was set and nothing reads, so that no operator waits for its effect."""

from collections.abc import Callable, Iterable

from broker.common.logs import logger
from broker.config.definition import Key

_log = logger(__name__)


class IdleKeys:
    """Unused keys of one table of keys; unknown ones are read by nothing either."""

    def __init__(self, kind: str, key_of: Callable[[str], Key | None]):
        self._kind = kind
        self._key_of = key_of
        self._logged: set[str] = set()

    def tell(self, names: Iterable[str]) -> None:
        for name in sorted(set(names) - self._logged):
            key = self._key_of(name)
            if key is None or not key.has_effect:
                self._logged.add(name)
                _log.warning("configuration without effect here", kind=self._kind, key=name)
