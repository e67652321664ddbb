"""A connector does not write where a service keeps what it knows."""

import pytest

from console.ecosystem.connectors.plan import ConnectorChange, configuration_plan
from console.kit.access.internal_names import InternalTopics


@pytest.mark.parametrize("key", ["topic", "kafka.topic", "errors.deadletterqueue.topic.name"])
@pytest.mark.parametrize("old", [None, {"name": "lines"}])
def test_a_configuration_that_names_an_internal_topic_is_not_carried_out(key, old):
    internal = InternalTopics(lambda: frozenset({"wk.cfg"}))
    for topic, is_refused in (("connect-configs", True), ("wk.cfg", True), ("eu.wk.cfg", True), ("orders", False)):
        plan = configuration_plan(
            ConnectorChange("lines", old, {"name": "lines", key: topic}, (), {}), "http://x", internal
        )
        assert ("internal topic" in plan.obstacle) is is_refused
