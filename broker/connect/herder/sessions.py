"""Requests between the workers of a group are signed with a key that its leader makes, writes and changes (KIP-507)."""

import os
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from broker.common.logs import logger
from broker.connect.api import ConnectError
from broker.connect.group.session_key import SessionKey, is_due, key_bytes, key_record, refusal, signed_headers
from broker.connect.herder.errors import RequestRefused
from broker.connect.herder.herder import Herder

#: Between two attempts to write a key.
_PAUSE_S = 1.0
_log = logger("broker.connect")


class Unsigned(RequestRefused):
    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


class Sessions:
    """The key that signs requests between workers, while every worker of the group speaks the protocol `sessioned`."""

    def __init__(self, herder: Herder):
        self._herder = herder
        settings = herder.settings
        self._algorithm: str = settings.inter_worker_signature_algorithm
        self._accepted: tuple[str, ...] = tuple(settings.inter_worker_verification_algorithms)
        self._of_keys: dict[str, Any] = {
            "algorithm": settings.inter_worker_key_generation_algorithm,
            "bits": settings.inter_worker_key_size,
        }
        self._ttl_ms: int = settings.inter_worker_key_ttl_ms
        self._writing: Future[Any] | None = None
        self._again_at = 0.0

    @property
    def key(self) -> SessionKey | None:
        return self._herder.configurations.session_key

    def headers(self, body: bytes) -> dict[str, str]:
        """Return the signature headers for a body. Raises ConnectError while no session key is known; try again."""
        if not self._herder.group.is_sessioned:
            return {}
        if self.key is None:
            raise ConnectError("the group's leader has not given out a session key yet")
        return signed_headers(self.key, self._algorithm, body)

    def require(self, headers: Mapping[str, str], body: bytes) -> None:
        """Check the signature. Raises Unsigned for a request that no worker of the group has sent."""
        if self._herder.group.is_sessioned and (why := refusal(headers, body, self.key, self._accepted)):
            _log.warning("request between workers refused", status=why[0], reason=why[1])
            raise Unsigned(*why)

    def tick(self) -> None:
        """Write a new session key if this worker leads and one is due; called on the group's thread, never blocks."""
        if self._writing is not None and not self._writing.done():
            return
        if time.monotonic() < self._again_at or not self._is_due():
            return
        self._again_at = time.monotonic() + _PAUSE_S
        self._writing = self._herder.submit(self._write)

    def _is_due(self) -> bool:
        group = self._herder.group
        if not (group.is_sessioned and group.is_leader):
            return False
        return is_due(self.key, int(time.time() * 1000), ttl_ms=self._ttl_ms, **self._of_keys)

    def _write(self) -> None:
        if self._is_due():
            made = SessionKey(
                os.urandom(key_bytes(**self._of_keys)), self._of_keys["algorithm"], int(time.time() * 1000)
            )
            self._herder.write_as_leader([key_record(made)])
            _log.info("session key given out", algorithm=made.algorithm)
