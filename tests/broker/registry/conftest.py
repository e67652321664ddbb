"""A registry in memory, for what it answers."""

import pytest

from tests.broker.registry.memory_registry import memory_registry


@pytest.fixture
async def registry():
    async with memory_registry() as running:
        yield running
