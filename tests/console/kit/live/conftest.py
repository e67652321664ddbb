"""A Redis of the test's own, and the channel layer through it."""

import pytest
from channels_redis.pubsub import RedisPubSubChannelLayer

from console.kit.live import audience, push
from tests.redis_server import SERVERS, running_redis, server_program


@pytest.fixture(params=SERVERS)
def redis_url(request):
    with running_redis(server_program(request.param)) as url:
        yield url


@pytest.fixture
def layer(redis_url, settings, monkeypatch):
    layer = RedisPubSubChannelLayer(hosts=[redis_url], prefix="barnabas")
    settings.REDIS_URL = redis_url
    settings.CHANNEL_LAYERS = {"default": {"CONFIG": {"prefix": "barnabas"}}}
    for module in (audience, push):
        monkeypatch.setattr(module, "get_channel_layer", lambda: layer)
    audience._client.cache_clear()
    yield layer
    audience._client().close()
    audience._client.cache_clear()
