"""SCRAM credentials as they stand in ZooKeeper, one text for each mechanism in a user's configuration
(ScramCredentialUtils.java), and what may be changed about them (KIP-554).
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import GROUP_NAME_LENGTH_MAX
from broker.common.security_limits import CREDENTIAL_SALT_BYTES_MAX
from broker.protocol.messages.alter_user_scram_credentials import ScramCredentialDeletion, ScramCredentialUpsertion
from broker.protocol.messages.describe_user_scram_credentials import ScramMechanism
from broker.security.membership import CLUSTER_USER
from broker.security.scram import (
    HASHES,
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    Credential,
    credential_of,
    keys_of_salted,
)

#: Kafka's number of a mechanism → its name.
NAMES = {ScramMechanism.SCRAM_SHA_256: "SCRAM-SHA-256", ScramMechanism.SCRAM_SHA_512: "SCRAM-SHA-512"}

_Part = ScramCredentialDeletion | ScramCredentialUpsertion
_PARTS = ("salt", "stored_key", "server_key", "iterations")


def encode_credential(credential: Credential) -> str:
    salt, stored_key, server_key = (
        base64.b64encode(data).decode() for data in (credential.salt, credential.stored_key, credential.server_key)
    )
    return f"salt={salt},stored_key={stored_key},server_key={server_key},iterations={credential.iterations}"


def decode_credential(text: str) -> Credential:
    """Raises ValueError, which repeats nothing of the text."""
    parts = dict(part.partition("=")[::2] for part in text.split(","))
    if sorted(parts) != sorted(_PARTS) or text.count(",") != len(_PARTS) - 1:
        raise ValueError(f"a SCRAM credential has the parts {', '.join(_PARTS)}")
    if not parts["iterations"].isdecimal():
        raise ValueError("iterations of a SCRAM credential are a number")
    try:
        salt, stored_key, server_key = (base64.b64decode(parts[part], validate=True) for part in _PARTS[:3])
    except (binascii.Error, ValueError):
        raise ValueError("a SCRAM credential is not written in base64") from None
    return Credential(salt, int(parts["iterations"]), stored_key, server_key)


def credentials_in(config: Mapping[str, str]) -> tuple[dict[str, Credential], list[str]]:
    """Parse a user's credentials by mechanism; also return what is wrong with unreadable ones."""
    credentials, wrong = {}, []
    for mechanism in HASHES:
        if mechanism in config:
            try:
                credentials[mechanism] = decode_credential(config[mechanism])
            except ValueError as error:
                wrong.append(f"{mechanism}: {error}")
    return credentials, wrong


class UserChange(NamedTuple):
    """What is asked for one user: done together, or not at all."""

    deleted: tuple[str, ...]
    set: Mapping[str, str]
    #: Why nothing is done, unless a credential to be deleted is not there.
    refusal: ApiError | None = None

    def apply(self, config: Mapping[str, str]) -> dict[str, str]:
        """Return the user's configuration with the changes; settings other than SCRAM's stay. Raises ApiError."""
        if any(mechanism not in config for mechanism in self.deleted):
            raise ApiError(ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")
        if self.refusal is not None:
            raise self.refusal
        return {key: value for key, value in config.items() if key not in self.deleted} | dict(self.set)


def changes_of(
    deletions: Iterable[ScramCredentialDeletion], upsertions: Iterable[ScramCredentialUpsertion]
) -> dict[str, UserChange | ApiError]:
    """Return the changes by user, in order; one invalid part fails all of its user. Derives keys: 3 HMACs for each."""
    by_user: dict[str, list[_Part]] = {}
    parts: list[_Part] = [*deletions, *upsertions]
    for part in parts:
        by_user.setdefault(part.name, []).append(part)
    return {user: _change_of(parts) for user, parts in by_user.items()}


def _change_of(parts: list[_Part]) -> UserChange | ApiError:
    """The first part at fault is named, as by Kafka: whether a credential to delete is there is a part's fault, too."""
    before: list[_Part] = []
    for part in parts:
        error = _error_in(part)
        if any(part.mechanism == earlier.mechanism for earlier in before):
            twice = "A user credential cannot be altered twice in the same request"
            error = ApiError(ErrorCode.DUPLICATE_RESOURCE, twice)
        if error is not None:
            deleted = tuple(_mechanism(one) for one in before if isinstance(one, ScramCredentialDeletion))
            return UserChange(deleted, {}, error) if deleted else error
        before.append(part)
    return UserChange(
        tuple(_mechanism(part) for part in parts if isinstance(part, ScramCredentialDeletion)),
        {_mechanism(part): _stored(part) for part in parts if isinstance(part, ScramCredentialUpsertion)},
    )


def _error_in(part: _Part) -> ApiError | None:
    if not part.name:
        return _unacceptable("Username must not be empty")
    if part.mechanism not in NAMES:
        return ApiError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(part, ScramCredentialDeletion):
        return None
    if part.iterations < ITERATIONS_MIN:
        return _unacceptable("Too few iterations")
    if part.iterations > ITERATIONS_MAX:
        return _unacceptable("Too many iterations")
    if part.name == CLUSTER_USER:
        return _unacceptable(f"The user {CLUSTER_USER} is the cluster's own")
    if part.name in (".", ".."):
        return _unacceptable(f"No user can be called {part.name}")
    if len(part.name) > GROUP_NAME_LENGTH_MAX:
        return _unacceptable(f"Username must not have more than {GROUP_NAME_LENGTH_MAX} letters")
    if not 0 < len(part.salt) <= CREDENTIAL_SALT_BYTES_MAX:
        return _unacceptable(f"A salt has 1 to {CREDENTIAL_SALT_BYTES_MAX} bytes")
    if not 0 < len(part.salted_password) <= CREDENTIAL_SALT_BYTES_MAX:
        return _unacceptable(f"A salted password has 1 to {CREDENTIAL_SALT_BYTES_MAX} bytes")
    return None


def _unacceptable(why: str) -> ApiError:
    return ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, why)


def _mechanism(part: _Part) -> str:
    return NAMES[ScramMechanism(part.mechanism)]


def _stored(part: ScramCredentialUpsertion) -> str:
    mechanism = _mechanism(part)
    keys = keys_of_salted(bytes(part.salted_password), mechanism)
    return encode_credential(credential_of(keys, bytes(part.salt), part.iterations, mechanism))
