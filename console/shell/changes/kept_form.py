"""What was typed for a change that waits: sealed as long as it waits, for the console's database and its copies are
read by more people than the change is for, and a record may be a secret. What is over keeps nothing of it.
"""

import base64
import json
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.utils.crypto import salted_hmac

from console.kit.plans.posted import Pairs

_SALT = "console.changes.kept_form"


class UnreadableError(Exception):
    """It was sealed with another key."""


def sealed(pairs: Pairs) -> str:
    return _box().encrypt(json.dumps(pairs).encode()).decode()


def opened(kept: Any) -> Pairs:
    """Return the parameters, of rows stored before forms were sealed too. Raises UnreadableError."""
    if isinstance(kept, str):
        try:
            kept = json.loads(_box().decrypt(kept.encode()))
        except InvalidToken:
            raise UnreadableError from None
    return tuple((str(name), str(value)) for name, value in kept)


def _box() -> Fernet:
    key = salted_hmac(_SALT, "form", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))
