"""Telling the open sockets of a person that the person's rights or logins are others now."""

from django.db import transaction

from console.kit.live import groups
from console.kit.live.push import send_message


def announce_rights(user_id: int) -> None:
    """Announce changed rights when the transaction commits, so that each socket checks whether it may go on. Each
    socket looks for itself whether it may go on.

    Never raises because of the channel layer: sockets that are not told look every half minute anyway.
    """
    transaction.on_commit(lambda: send_message(groups.person(user_id), {"type": "rights.changed"}))
