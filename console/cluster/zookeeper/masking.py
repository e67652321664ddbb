"""Secrets in znodes, taken out before anything of a value is shown. Pure.

What proves an identity lies in ZooKeeper in three places: SCRAM credentials (`/config/users`), delegation tokens, and
passwords among brokers' settings. Nobody needs to read them on a page, whatever the role.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from console.kit.common.foreign_json import parse_foreign_json

MASK = "•••• not shown"

#: Below these only what is named may be shown: a setting made tomorrow is hidden until somebody has thought of it.
_QUOTAS = frozenset(
    {
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
        "connection_creation_rate",
    }
)
#: Also below a chroot that the console looks at from above.
_TOKENS = re.compile(r".*/delegation_token/tokens/.+")
_USERS = re.compile(r".*/config/users(/.*)?")
_SECRET_NAME = re.compile(
    r"password|passphrase|secret|jaas|credential|token|hmac|salt|stored_key|server_key|private.?key|keystore\.key|scram",
    re.IGNORECASE,
)
#: A SCRAM credential as Kafka writes it.
_SECRET_VALUE = re.compile(r"stored_key=|server_key=|\bpassword\s*=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Masked:
    """`value` is None if nothing of it may be shown. `names` are the fields that were taken out."""

    value: bytes | None
    names: tuple[str, ...] = ()


def mask_secrets(path: str, value: bytes) -> Masked:
    """Mask secrets in the value; one without secrets is returned unchanged."""
    if _TOKENS.fullmatch(path):
        return Masked(None, ("the whole token",)) if value else Masked(value)
    try:
        decoded = parse_foreign_json(value) if value else None
    except (ValueError, RecursionError):
        decoded = None
    if not isinstance(decoded, dict | list):
        is_secret = bool(value) and (_USERS.fullmatch(path) or _SECRET_VALUE.search(value.decode("latin-1")))
        return Masked(None, ("the whole value",)) if is_secret else Masked(value)
    names: list[str] = []
    clean = _without_secrets(decoded, names, only_quotas=bool(_USERS.fullmatch(path)))
    return Masked(json.dumps(clean, ensure_ascii=False).encode(), tuple(names)) if names else Masked(value)


def _without_secrets(value: object, names: list[str], *, only_quotas: bool) -> object:
    if isinstance(value, list):
        return [_without_secrets(item, names, only_quotas=only_quotas) for item in value]
    if not isinstance(value, Mapping):
        return value
    clean = {}
    for name, item in value.items():
        if isinstance(item, dict | list) and not _SECRET_NAME.search(name):
            clean[name] = _without_secrets(item, names, only_quotas=only_quotas)
        elif _is_secret(name, item, only_quotas):
            names.append(name)
            clean[name] = MASK
        else:
            clean[name] = item
    return clean


def _is_secret(name: str, value: object, only_quotas: bool) -> bool:
    if only_quotas:
        return name != "version" and name not in _QUOTAS
    return bool(_SECRET_NAME.search(name) or (isinstance(value, str) and _SECRET_VALUE.search(value)))
