"""A Redis of the test's own, and the channel layer through it."""

import secrets
import tempfile
from pathlib import Path

import pytest
from channels_redis.pubsub import RedisPubSubChannelLayer

from console.launch.redis_server import find_server_program, wait_for_redis
from console.live import audience
from console.processes import os_process


@pytest.fixture
def redis_url():
    with tempfile.TemporaryDirectory(prefix="ba-") as directory:
        socket, token = Path(directory) / "redis.sock", secrets.token_hex(16)
        command = [find_server_program(), "--port", "0", "--unixsocket", str(socket), "--save", ""]
        server = os_process.spawn(command, {}, Path(directory), Path(directory) / "redis.log", token)
        url = f"unix://{socket}"
        assert wait_for_redis(url, lambda: None)
        yield url
        os_process.kill(server)
        os_process.look(server)


@pytest.fixture
def layer(redis_url, settings, monkeypatch):
    found = RedisPubSubChannelLayer(hosts=[redis_url], prefix="barnabas")
    settings.REDIS_URL = redis_url
    settings.CHANNEL_LAYERS = {"default": {"CONFIG": {"prefix": "barnabas"}}}
    monkeypatch.setattr(audience, "get_channel_layer", lambda: found)
    audience._client.cache_clear()
    yield found
    audience._client().close()
    audience._client.cache_clear()
