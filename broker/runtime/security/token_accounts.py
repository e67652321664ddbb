"""Delegation tokens as accounts of SCRAM: the token's id is the user, the text of its HMAC the password (KIP-48).

To derive a credential takes some milliseconds, so that is done on a thread as soon as a token is heard of.
"""

import asyncio
import base64
import hmac

from broker.runtime.periodic import rounds
from broker.runtime.security.delegation_tokens import DelegationTokens
from broker.security.delegation_tokens import USER
from broker.security.membership import CLUSTER_USER
from broker.security.sasl.server import ScramAccount
from broker.security.scram import HASHES, ITERATIONS_MIN, Credential, credential_of, derive_keys

_SALT_BYTES = 16

#: By mechanism.
_Credentials = dict[str, Credential]


class TokenAccounts:
    def __init__(self, tokens: DelegationTokens):
        self._tokens = tokens
        self._credentials: dict[str, _Credentials] = {}
        self._new: asyncio.Queue[str] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        tokens.on_changed.append(self._on_changed)

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(rounds(self._derive_next))

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def find(self, mechanism: str, token_id: str) -> ScramAccount | None:
        """Return the account of the token's owner. An expired token may log in to a session that has expired, too."""
        token = self._tokens.get(token_id)
        if token is None or token.owner.type != USER or token.owner.name == CLUSTER_USER:
            return None
        credentials = self._credentials.get(token_id)
        if credentials is None:
            credentials = self._credentials[token_id] = _derived(self._tokens.hmac_of(token_id))
        return ScramAccount(
            credentials[mechanism], str(token.owner), min(token.expiry_ms, token.max_ms), is_by_token=True
        )

    def _on_changed(self, token_id: str) -> None:
        if self._tokens.get(token_id) is None:
            self._credentials.pop(token_id, None)
        elif token_id not in self._credentials:
            self._new.put_nowait(token_id)

    async def _derive_next(self) -> None:
        token_id = await self._new.get()
        if token_id not in self._credentials:
            credentials = await asyncio.to_thread(_derived, self._tokens.hmac_of(token_id))
            if self._tokens.get(token_id) is not None:
                self._credentials[token_id] = credentials


def _derived(token_hmac: bytes) -> _Credentials:
    """Derive SCRAM credentials; the token's password is random, so its salt need not be."""
    return {mechanism: _credential(token_hmac, mechanism) for mechanism in HASHES}


def _credential(token_hmac: bytes, mechanism: str) -> Credential:
    salt = hmac.digest(token_hmac, mechanism.encode(), "sha256")[:_SALT_BYTES]
    keys = derive_keys(base64.b64encode(token_hmac), salt, ITERATIONS_MIN, mechanism)
    return credential_of(keys, salt, ITERATIONS_MIN, mechanism)
