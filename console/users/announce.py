"""Telling the open sockets of a person that the person's rights or logins are others now."""

import logging

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

from console.live import groups

logger = logging.getLogger(__name__)


def announce_rights(user_id: int) -> None:
    """When the transaction commits. Each socket looks for itself whether it may go on.

    Never raises because of the channel layer: sockets that are not told look every half minute anyway.
    """
    transaction.on_commit(lambda: _tell(user_id))


def _tell(user_id: int) -> None:
    try:
        async_to_sync(get_channel_layer().group_send)(groups.person(user_id), {"type": "rights.changed"})
    except Exception as error:
        logger.warning("sockets of user %s were not told: %s", user_id, error)
