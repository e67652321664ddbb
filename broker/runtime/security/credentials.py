"""The SCRAM credentials of users: read from ZooKeeper at the start, kept up to date, changed for clients (KIP-554).

They stand in `/config/users/<name>`, which quotas share: what is not of SCRAM is left as it is. A change counts for
logins that begin afterwards; whoever has logged in stays.
"""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.security.sanitized_names import DEFAULT, desanitized, sanitized
from broker.security.sasl.server import ScramAccount
from broker.security.sasl.stored_credentials import UserChange, credentials_in
from broker.security.scram import Credential
from broker.zookeeper.ask_each import ask_each
from broker.zookeeper.errors import MalformedZnode, OperationRefused, ZooKeeperError, answer_of
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)
ENTITY = "users"

#: By mechanism.
OfUser = dict[str, Credential]


class UserCredentials:
    """Credentials of all users, for the logins of one broker."""

    def __init__(self, store: ClusterStore):
        self._store = store
        self._of: dict[str, OfUser] = {}
        self._likeness: dict[str, Credential | None] = {}

    # -- kept up to date

    async def load(self) -> None:
        """Load all users; call after the watches are set. Raises ZooKeeperError."""
        names = await self._store.configured(ENTITY)
        await ask_each(self.apply, names)
        present = {desanitized(name) for name in names}
        for user in self._of.keys() - present:
            self._set(user, {})
        _log.info("credentials loaded", users=len(self._of))

    async def apply(self, name: str) -> None:
        """Apply the user's current credentials; raises ZooKeeperError.

        `name` is as in the path, perhaps of a user's client.
        """
        if "/" not in name and name != DEFAULT:
            self._set(desanitized(name), await self._read(desanitized(name)))

    def _set(self, user: str, credentials: OfUser) -> None:
        self._likeness.clear()
        if credentials:
            self._of[user] = credentials
        else:
            self._of.pop(user, None)

    async def _read(self, user: str) -> OfUser:
        try:
            credentials, wrong = credentials_in(await self._store.config(ENTITY, sanitized(user)))
        except MalformedZnode:
            credentials, wrong = {}, ["the znode cannot be read"]
        except OperationRefused:  # a name that no znode can have
            return {}
        for reason in wrong:
            _log.error("credential left out", user=user, reason=reason)
        return credentials

    # -- for logins

    def account(self, mechanism: str, user: str) -> ScramAccount | None:
        credential = self._of.get(user, {}).get(mechanism)
        return ScramAccount(credential, f"User:{user}") if credential else None

    def likeness(self, mechanism: str) -> Credential | None:
        """Return a credential with the most common iterations and salt length, to disguise unknown users; None if there
        is none.
        """
        if mechanism not in self._likeness:
            known = [of[mechanism] for of in self._of.values() if mechanism in of]
            looks = Counter(
                (credential.iterations, len(credential.salt), credential.salt.isalnum()) for credential in known
            )
            usual = max(looks, key=looks.__getitem__, default=None)
            self._likeness[mechanism] = next(
                (
                    credential
                    for credential in known
                    if (credential.iterations, len(credential.salt), credential.salt.isalnum()) == usual
                ),
                None,
            )
        return self._likeness[mechanism]

    # -- for clients

    async def of_users(self, users: Iterable[str]) -> dict[str, OfUser]:
        """Return the users' credentials as they are in ZooKeeper; none for an unknown user. Raises ApiError."""
        names = list(users)
        with _answered():
            return dict(zip(names, await ask_each(self._read, names), strict=True))

    async def users(self) -> list[str]:
        """Return the users with a configuration, unsorted. Raises ApiError."""
        with _answered():
            return [desanitized(name) for name in await self._store.configured(ENTITY) if name != DEFAULT]

    async def change(self, user: str, change: UserChange) -> None:
        """Change credentials: counts here on return, and on every other broker soon. Raises ApiError."""
        with _answered():
            await self._store.change_config(ENTITY, sanitized(user), change.apply)
            await self.apply(sanitized(user))
        _log.info("credentials changed", user=user, set=",".join(change.set), deleted=",".join(change.deleted))


@contextlib.contextmanager
def _answered() -> Iterator[None]:
    """Turn ZooKeeper's errors into those that clients know."""
    try:
        yield
    except MalformedZnode as error:
        raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
    except ZooKeeperError as error:
        raise answer_of(error) from error
