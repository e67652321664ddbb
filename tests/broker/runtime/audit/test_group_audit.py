"""What groups commit becomes steps, of groups that clients name as they like."""

from broker.log.config import LogConfig
from broker.runtime.audit.group_audit import GroupAudit
from tests.broker.coordinator.group.world import World
from tests.manual_clock import ManualClock

T0 = ("t", 0)


class Coordinators(list):
    """All of a broker; of each everything is committed."""

    def settled(self):
        return ((item, 5) for item in self)


class TopicConfigs:
    async def log_configs(self, topics):
        return dict.fromkeys(topics, LogConfig(barnabas_audit_enable=True))


async def test_nothing_is_kept_of_groups_that_are_gone_and_one_that_comes_back_begins_an_epoch():
    """It would say again what was said, for the same numbers."""
    world = World()
    coordinator = world.coordinator
    audit = GroupAudit(Coordinators([coordinator]), TopicConfigs(), ManualClock())
    audit.follow()
    epochs = []
    for number in range(3):
        world.commit("g", "-", {T0: number})
        for passing in range(20):
            world.commit(f"passing-{number}-{passing}", "-", {T0: 1})
        increments = await audit.increments()
        audit.arrived(increments)
        epochs += [item.epoch for item in increments if item.chain.source == "g"]
        for group in list(coordinator.groups):
            if group != "g" or number == 1:
                world.delete(group)
        audit.arrived(await audit.increments())
        assert len(audit._coordinated[coordinator].reporters) <= 1
    assert [epoch == epochs[0] for epoch in epochs] == [True, True, False]
