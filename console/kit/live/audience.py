"""Who listens: what no page shows is neither rendered nor sent.

Redis knows which channels somebody has subscribed to, a layer in memory its groups. One that cannot be asked, or does
not answer, may have listeners: then everything is rendered.
"""

import logging
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import redis
from channels.layers import InMemoryChannelLayer, get_channel_layer
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.conf import settings

from console.kit.live import groups

logger = logging.getLogger(__name__)

ANSWER_WITHIN_SECONDS = 1.0


def listened(names: Collection[str]) -> frozenset[str]:
    """Return those of the groups `names` with listeners, by one Redis query. Never raises."""
    layer = get_channel_layer()
    if isinstance(layer, InMemoryChannelLayer):
        return frozenset(name for name in names if groups.on_layer(name) in layer.groups)
    client = redis_of_layer()
    if not names or client is None:
        return frozenset(names)
    by_channel = {channel_of(name): name for name in names}
    try:
        (answer,) = answers(client, [("PUBSUB", "NUMSUB", *by_channel)])
    except redis.RedisError as error:
        logger.debug("listeners are not known: %s", error)
        return frozenset(names)
    counted = zip(answer[::2], answer[1::2], strict=True)
    return frozenset(by_channel[channel.decode()] for channel, count in counted if count)


def answers(client: redis.Redis, commands: Sequence[tuple[str | bytes, ...]]) -> list[Any]:
    """Return Redis's replies to pipelined `commands`. Raises RedisError.

    Without what the client does around each question, which is most of what it costs several times a second.
    """
    pool = client.connection_pool
    connection = pool.get_connection()
    try:
        packed = connection.pack_commands(commands)  # type: ignore[no-untyped-call]  # redis gives no types
        connection.send_packed_command(packed)  # type: ignore[no-untyped-call]  # redis gives no types
        return [connection.read_response() for _ in commands]
    except BaseException:
        # Other answers may be on their way.
        connection.disconnect()  # type: ignore[no-untyped-call]  # redis gives no types
        raise
    finally:
        pool.release(connection)


def redis_of_layer() -> redis.Redis | None:
    """Return the channel layer's Redis client, shared by threads; None if the layer is not Redis."""
    return _client() if isinstance(get_channel_layer(), RedisPubSubChannelLayer) else None


def channel_of(group: str) -> str:
    """Return the Redis key of the group, as channels_redis names it."""
    return f"{settings.CHANNEL_LAYERS['default']['CONFIG']['prefix']}__group__{groups.on_layer(group)}"


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=ANSWER_WITHIN_SECONDS, socket_connect_timeout=ANSWER_WITHIN_SECONDS
    )
