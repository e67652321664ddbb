"""Secrets in configurations of connectors, taken out before anything of one is kept or shown. Pure.

Connect's REST tells them to everybody who asks. Here a value is a secret by what its plugin declares (PASSWORD), or by
its key's name, for keys that no plugin of this worker declares; of other values what looks like one within them.
"""

import re
from collections.abc import Collection, Mapping

from console.ecosystem.connectors.secret_places import secret_places

MASK = "••••••"
#: What a plugin declares as a password has this type.
SECRET_TYPE = "PASSWORD"
_SECRET_NAME = re.compile(
    r"password|passphrase|passwd|secret|jaas|credential|token|api.?key|access.?key|private.?key|user\.info|authorization"
    r"|keystore\.key|account.?key|^sasl\..*key|connection.?string",
    re.IGNORECASE,
)
#: Names that only sound so: they say where something is, of what kind, or how long it lasts.
_PLAIN_NAME = re.compile(
    r"(location|\.type|\.path|\.file|\.class|\.provider|\.url|\.uri|endpoint|\.ms|\.seconds|\.name|\.id|\.field"
    r"|\.enable|\.enabled|converter|\.mechanism)$",
    re.IGNORECASE,
)
#: A name of where the secret is, for a config provider: it is what should be read.
_REFERENCE = re.compile(r"\$\{[^{}]+\}")
#: Shorter ones would blot out half of a text.
_SECRET_LENGTH_MIN = 4


def is_secret(key: str, declared: Collection[str] = ()) -> bool:
    """Return whether the key is secret. `declared`: keys that the plugin marks as passwords."""
    return key in declared or bool(_SECRET_NAME.search(key) and not _PLAIN_NAME.search(key))


def masked_value(key: str, value: str, declared: Collection[str] = ()) -> str:
    if not value or _REFERENCE.fullmatch(value):
        return value
    if is_secret(key, declared):
        return MASK
    return _hidden(value)


def masked(config: Mapping[str, str], declared: Collection[str] = ()) -> dict[str, str]:
    return {key: masked_value(key, value, declared) for key, value in config.items()}


def secrets_in(config: Mapping[str, str], declared: Collection[str] = ()) -> list[str]:
    """Return the secrets themselves, the longest first."""
    values: set[str] = set()
    for key, value in config.items():
        if value and not _REFERENCE.fullmatch(value):
            if is_secret(key, declared):
                values.add(value)
            else:
                values.update(value[start:end] for start, end in secret_places(value))
    return sorted((name for name in values if len(name) >= _SECRET_LENGTH_MIN and name != MASK), key=len, reverse=True)


def without(text: str, secrets: Collection[str]) -> str:
    """Return `text` without the secrets of the connector's configuration, which it may quote."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return _hidden(text)


def _hidden(text: str) -> str:
    """Return `text` without known secrets; references stay."""
    for start, end in reversed(secret_places(text)):
        if not _REFERENCE.fullmatch(text[start:end]):
            text = f"{text[:start]}{MASK}{text[end:]}"
    return text
