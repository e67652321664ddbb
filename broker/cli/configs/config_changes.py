"""The settings that `kafka-configs --alter` is given: how they are typed, what SCRAM credentials are made of. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import pbkdf2_hmac

from broker.cli.frame.declaration import CommandError
from broker.protocol.messages.alter_user_scram_credentials import ScramCredentialDeletion, ScramCredentialUpsertion
from broker.protocol.messages.describe_user_scram_credentials import ScramMechanism

#: A comma or an `=` that no brackets protect.
_OUTSIDE = r"(?=[^\]]*(?:\[|\Z))"
_COMMA, _EQUALS = re.compile("," + _OUTSIDE), re.compile(r"\s*=\s*" + _OUTSIDE)
_KEY = re.compile(r"[a-zA-Z0-9._$-]*")
_BRACKETS = re.compile(r"[\[\]]")
SCRAM = {"SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256, "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512}
_QUOTAS = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
_IP_QUOTAS = ("connection_creation_rate",)
_QUOTAS_OF = {"ips": _IP_QUOTAS}
_HASH = {ScramMechanism.SCRAM_SHA_256: "sha256", ScramMechanism.SCRAM_SHA_512: "sha512"}
#: The password is all of the rest, commas too.
_SCRAM = re.compile(r"(?:iterations=(?P<iterations>[^,]*),)?password=(?P<password>.+)", re.DOTALL)
_ITERATIONS = 4096
#: What brokers accept (KIP-554).
_ITERATIONS_MIN, _ITERATIONS_MAX = 4096, 16384


@dataclass(frozen=True)
class ConfigEdits:
    added: Mapping[str, str]
    deleted: tuple[str, ...]

    def of_scram(self) -> "ConfigEdits":
        return ConfigEdits(
            {key: value for key, value in self.added.items() if key in SCRAM},
            tuple(key for key in self.deleted if key in SCRAM),
        )

    def of_others(self) -> "ConfigEdits":
        return ConfigEdits(
            {key: value for key, value in self.added.items() if key not in SCRAM},
            tuple(key for key in self.deleted if key not in SCRAM),
        )

    def __bool__(self) -> bool:
        return bool(self.added or self.deleted)


def read_added(text: str) -> dict[str, str]:
    """Parse `k1=v1,k2=[a,b]`: brackets keep commas together, and are no part of the value. Raises CommandError."""
    pairs = [_EQUALS.split(part) for part in _COMMA.split(text)]
    if any(len(pair) != 2 for pair in pairs):
        raise CommandError(
            'Invalid entity config: all configs to be added must be in the format "key=val" or  "key=[val1,val2]" '
            "to group values which contain commas."
        )
    return checked_keys({key.strip(): _BRACKETS.sub("", value).strip() for key, value in pairs})


def checked_keys(added: dict[str, str]) -> dict[str, str]:
    """Return them all. Raises CommandError for a key that no setting has (KAFKA-14927); `$` is of inner classes."""
    for key in added:
        if not _KEY.fullmatch(key):
            raise CommandError(f"Invalid character found for config key: {key}")
    return added


def read_deleted(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def require_quotas(changes: ConfigEdits, entity_type: str, *, takes_scram: bool) -> None:
    """Raise CommandError in Kafka's words for settings that are no quotas of the entity, nor credentials of a user."""
    known = _QUOTAS_OF.get(entity_type, _QUOTAS)
    what = "quota and SCRAM credential" if takes_scram else "connection quota" if known is _IP_QUOTAS else "quota"
    for keys, action in ((changes.added, "added"), (changes.deleted, "deleted")):
        unknown = [key for key in keys if key not in known and not (takes_scram and key in SCRAM)]
        if unknown:
            raise CommandError(
                f"Only {what} configs can be {action} for '{entity_type}' using --bootstrap-server. "
                f"Unexpected config names: {','.join(unknown)}"
            )


def quota_values(added: Mapping[str, str]) -> dict[str, float]:
    """Raises CommandError."""
    values = {}
    for key, text in added.items():
        try:
            values[key] = float(text)
        except ValueError:
            raise CommandError(f"Cannot parse quota configuration value for {key}: {text}") from None
    return values


def scram_deletions(user: str, changes: ConfigEdits) -> list[ScramCredentialDeletion]:
    return [ScramCredentialDeletion(name=user, mechanism=SCRAM[key]) for key in changes.deleted]


def scram_upsertion(user: str, key: str, text: str, salt: bytes) -> ScramCredentialUpsertion:
    """Return the upsertion for text such as `iterations=8192,password=x`; the password itself is never sent.

    Raises CommandError.
    """
    fields = _SCRAM.fullmatch(text)
    if fields is None:
        raise CommandError(f"{key} is written as {key}=[iterations={_ITERATIONS},password=…]")
    iterations = fields["iterations"]
    if iterations in (None, "", "-1"):
        iterations = str(_ITERATIONS)
    if not iterations.isdecimal() or not _ITERATIONS_MIN <= int(iterations) <= _ITERATIONS_MAX:
        raise CommandError(f"{key}: iterations are {_ITERATIONS_MIN} to {_ITERATIONS_MAX}, not {iterations}")
    mechanism = SCRAM[key]
    salted = pbkdf2_hmac(_HASH[mechanism], fields["password"].encode(), salt, int(iterations))
    return ScramCredentialUpsertion(
        name=user, mechanism=mechanism, iterations=int(iterations), salt=salt, salted_password=salted
    )
