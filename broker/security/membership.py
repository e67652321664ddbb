"""The cluster's own members, and how they know each other: by a secret that is made with the cluster.

A member logs in as the user `__cluster` by SCRAM, the secret being the password. Each side proves it to the other, and
the one that dials names the address it dialled, as part of what is proved: who only has a lie about addresses believed
is trusted by nobody, also when it passes on what it hears to the broker that was meant.

The secret is random, so its salt need not be: it follows from the secret, and the keys are derived once.
"""

import hmac
from collections.abc import Callable, Mapping

from broker.security.sasl.server import Accounts, ScramAccount
from broker.security.scram import (
    ITERATIONS_MIN,
    AuthenticationError,
    ClientExchange,
    Keys,
    credential_of,
    derive_keys,
)
from broker.security.session import Session

SECRET_BYTES = 32
#: Of the randomness of a nonce.
NONCE_BYTES = 18
CLUSTER_USER = "__cluster"
MEMBER = f"User:{CLUSTER_USER}"
#: By which who logs in as a member says so beforehand: a listener may have other mechanisms for everybody else.
CLIENT_ID = "member"

_SALT_BYTES = 16
_ADDRESS = "address"


class ClusterMembership:
    """One for each process that is a member, or asks as one."""

    def __init__(self, secret: bytes, new_nonce: Callable[[], str]):
        """`new_nonce` makes a text of NONCE_BYTES nobody can guess. Takes milliseconds."""
        self._new_nonce = new_nonce
        self._salt = hmac.digest(secret, b"salt", "sha256")[:_SALT_BYTES]
        self._keys = derive_keys(secret, self._salt, ITERATIONS_MIN)
        self._credential = credential_of(self._keys, self._salt, ITERATIONS_MIN)
        #: All members make up the same of a user who does not exist.
        self.seed_of_strangers = hmac.digest(secret, b"strangers", "sha256")

    def dial(self, host: str, port: int) -> ClientExchange:
        """Return the exchange with the member at this address."""
        return ClientExchange(CLUSTER_USER, self._known_keys, self._new_nonce(), {_ADDRESS: f"{host}:{port}"})

    def accounts_at(self, is_our_address: Callable[[str], bool]) -> Accounts:
        """Return the one account of members that dial us; `is_our_address` knows our advertised host:port."""

        def account(user: str, extensions: Mapping[str, str]) -> ScramAccount | None:
            if user != CLUSTER_USER:
                return None
            if not is_our_address(extensions.get(_ADDRESS, "")):
                raise AuthenticationError("the client meant another broker")
            return ScramAccount(self._credential, MEMBER, is_member=True)

        return account

    def _known_keys(self, salt: bytes, iterations: int) -> Keys:
        if (salt, iterations) != (self._salt, ITERATIONS_MIN):
            raise AuthenticationError("the server has another secret")
        return self._keys


def is_member(session: Session | None) -> bool:
    return session is not None and session.is_member
