"""Which keys of a connector's class are passwords, as its plugin declares them; asked once in a while."""

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from console.ecosystem.connectors.client import ConnectClient, connect_client
from console.ecosystem.connectors.masking import SECRET_TYPE
from console.kit.common.clock import now_ms
from console.kit.gateway.errors import GatewayError

#: A worker may be given another version of a plugin; one that could not be asked is asked again sooner.
KEPT_MS, REFUSED_MS = 600_000, 30_000
#: Classes asked for in one look: each is a request.
ASKED_MAX = 5
CLASSES_MAX = 500


@cache
def _made(client: ConnectClient) -> "DeclaredSecrets":
    return DeclaredSecrets(client)


def declared_secrets() -> "DeclaredSecrets":
    """Return the one instance of this process."""
    return _made(connect_client())


class DeclaredSecrets:
    """Safe to use from several threads."""

    def __init__(self, client: ConnectClient, clock_ms: Callable[[], int] = now_ms):
        self._client, self._now_ms = client, clock_ms
        self._lock = threading.Lock()
        self._known: dict[str, tuple[frozenset[str], int]] = {}

    def of(self, classes: Iterable[str]) -> Mapping[str, frozenset[str]]:
        """Return the declared secret keys by class, as far as known; other keys are judged by their names."""
        count = 0
        for class_ in sorted(set(classes)):
            if self._is_old(class_) and count < ASKED_MAX:
                count += 1
                self._ask(class_)
        with self._lock:
            return {name: keys for name, (keys, _) in self._known.items()}

    def _is_old(self, name: str) -> bool:
        with self._lock:
            return self._known.get(name, (frozenset(), 0))[1] <= self._now_ms()

    def _ask(self, name: str) -> None:
        known = self._known.get(name, (frozenset[str](), 0))[0]
        try:
            keys = self._client.declaration(name.rpartition(".")[2])
        except GatewayError:
            knowns = known, self._now_ms() + REFUSED_MS
        else:
            knowns = frozenset(key.name for key in keys if key.type == SECRET_TYPE), self._now_ms() + KEPT_MS
        with self._lock:
            if len(self._known) >= CLASSES_MAX:
                self._known.clear()
            self._known[name] = knowns
