"""Says once of each configuration key that somebody set and nothing reads, so that nobody waits for its effect."""

from collections.abc import Iterable, Mapping

from broker.common.logs import logger
from broker.config.definition import Key

_log = logger(__name__)


class IdleKeys:
    """For one table of keys; those that are not in it are read by nothing either."""

    def __init__(self, kind: str, keys: Mapping[str, Key]):
        self._kind = kind
        self._keys = keys
        self._told: set[str] = set()

    def tell(self, names: Iterable[str]) -> None:
        for name in sorted(set(names) - self._told):
            if name not in self._keys or not self._keys[name].has_effect:
                self._told.add(name)
                _log.warning("configuration without effect here", kind=self._kind, key=name)
