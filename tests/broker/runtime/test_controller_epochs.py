"""A broker believes the controller that ZooKeeper names, also when the count of epochs has begun anew."""

from types import SimpleNamespace

import pytest

from broker.common.controller_epoch import CONTROLLER_EPOCH_MAX as MAX
from broker.runtime.controller_epochs import ControllerEpochs


class Store:
    def __init__(self, epoch: int):
        self.epoch = epoch

    async def controller_epoch(self) -> int:
        return self.epoch


@pytest.mark.parametrize(
    ("known", "claimed", "in_zookeeper", "believed"),
    [
        (4, 5, 5, 5),
        (4, 9, 4, 4),
        (5, 4, 5, 5),
        (MAX, 42, 42, 42),
        (MAX - 1, 42, 42, 42),
        (MAX - 1, 42, MAX - 1, MAX - 1),
        (42, MAX, 42, 42),
        (42, MAX - 1, 43, 43),
    ],
)
async def test_the_epoch_that_is_believed_is_zookeepers(known, claimed, in_zookeeper, believed):
    replicas = SimpleNamespace(controller_epoch=known, broker_epoch=1, check_controller=lambda *_: None)
    await ControllerEpochs(1, replicas, Store(in_zookeeper)).check(claimed, 1)
    assert replicas.controller_epoch == believed
