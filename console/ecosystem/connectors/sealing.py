"""A typed secret on its way from the form to the confirmation of its plan: sealed, in the page of who typed it.

So it is in no database and no session in between, and the page does not show it.
"""

import base64
import json
from collections.abc import Mapping

from cryptography.fernet import Fernet, InvalidToken
from django.contrib.auth.models import User
from django.utils.crypto import salted_hmac

_SALT = "console.connectors.sealing"
#: As long as somebody may think about a plan.
LASTS_S = 3_600
LENGTH_MAX = 512 * 1024


def seal(user: User, name: str, secrets: Mapping[str, str]) -> str:
    """Seal `secrets` of the connector `name` by their keys; nothing: no seal."""
    return _box(user, name).encrypt(json.dumps(dict(secrets)).encode()).decode() if secrets else ""


def unseal(user: User, name: str, sealed: str) -> dict[str, str]:
    """Unseal the secrets; nothing if they are another person's or connector's, too old, or invalid."""
    if not sealed or len(sealed) > LENGTH_MAX or not sealed.isascii():
        return {}
    try:
        document = json.loads(_box(user, name).decrypt(sealed.encode(), ttl=LASTS_S))
    except InvalidToken:
        return {}
    return dict(document)


def print_of(value: str) -> str:
    """Return a fingerprint of a value, for plans that must not reveal it."""
    return salted_hmac(_SALT, value, algorithm="sha256").hexdigest()[:32]


def _box(user: User, name: str) -> Fernet:
    key = salted_hmac(_SALT, json.dumps([user.pk, name]), algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))
