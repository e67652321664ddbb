"""What a person sends back to confirm a plan: a digest of all that is done, for this person and this cluster alone.

It is keyed, so that it can only come from a page that showed this plan: its texts could be guessed.
"""

import json
from typing import Protocol

from django.contrib.auth.models import User
from django.utils.crypto import salted_hmac

from console.kit.common.current_cluster import current_cluster, is_main

_SALT = "console.plans"
#: 128 bits, as hexadecimal digits.
DIGEST_LENGTH = 32


class Confirmable(Protocol):
    @property
    def confirmed(self) -> object:
        """Everything that is done and that it depends on, as JSON."""
        ...


def digest_of(plan: Confirmable, actor: User | None) -> str:
    """Return the digest of `plan` for `actor` (None: the system)."""
    whose = None if actor is None else actor.pk
    where = [] if is_main() else [current_cluster()]
    text = json.dumps([type(plan).__name__, whose, plan.confirmed, *where], sort_keys=True)
    return salted_hmac(_SALT, text, algorithm="sha256").hexdigest()[:DIGEST_LENGTH]
