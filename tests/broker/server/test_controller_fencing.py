"""Trap 8 at the brokers: the word of a controller that was replaced, or meant for an earlier life, changes nothing."""

from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from broker.protocol.messages.update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.broker.server.conftest import TOPIC_ID

T0 = TopicPartition("t", 0)


def leader_and_isr(**epochs) -> tuple:
    state = LeaderAndIsrPartitionState(partition_index=0, leader=2, leader_epoch=9, isr=[2], replicas=[2, 1])
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=[state])
    return LeaderAndIsrRequest(controller_id=3, topic_states=[topic], **epochs), 7


def stop_replica(**epochs) -> tuple:
    state = StopReplicaPartitionState(partition_index=0, leader_epoch=-2, delete_partition=True)
    topic = StopReplicaTopicState(topic_name="t", partition_states=[state])
    return StopReplicaRequest(controller_id=3, topic_states=[topic], **epochs), 4


def update_metadata(**epochs) -> tuple:
    state = UpdateMetadataPartitionState(partition_index=0, leader=2, leader_epoch=9, isr=[2], replicas=[2, 1])
    topic = UpdateMetadataTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=[state])
    return UpdateMetadataRequest(controller_id=3, topic_states=[topic], **epochs), 8


@pytest.fixture
def led(served):
    """Partition t-0, led by this broker as the controller of epoch 5 said to its incarnation 70."""
    served.lead("t")
    served.tell_of("t")
    served.replicas.broker_epoch = 70
    served.replicas.controller_epoch = 5
    served.store.epochs = (5, 70)
    return served


@pytest.mark.parametrize("known", [2**31 - 2, 2**31 - 1])
async def test_a_broker_whose_controller_had_the_last_epoch_follows_the_one_that_zookeeper_has_then(led, known):
    led.replicas.controller_epoch = known
    led.store.epochs = (6, 70)
    request, version = update_metadata(controller_epoch=6, broker_epoch=70)
    assert (await (await led.member()).ask(request, version)).error_code == ErrorCode.NONE
    assert led.metadata.controller_id == 3
    request, version = update_metadata(controller_epoch=5, broker_epoch=70)
    assert (await (await led.member()).ask(request, version)).error_code == ErrorCode.STALE_CONTROLLER_EPOCH


@pytest.mark.parametrize("request_of", [leader_and_isr, stop_replica, update_metadata])
@pytest.mark.parametrize(
    ("controller_epoch", "broker_epoch", "code"),
    [(4, 70, ErrorCode.STALE_CONTROLLER_EPOCH), (5, 69, ErrorCode.STALE_BROKER_EPOCH)],
    ids=["replaced controller", "earlier life"],
)
async def test_trap_8_broker_refuses_what_is_no_longer_meant(led, request_of, controller_epoch, broker_epoch, code):
    request, version = request_of(controller_epoch=controller_epoch, broker_epoch=broker_epoch)
    response = await (await led.member()).ask(request, version)
    assert response.error_code == code
    assert led.replicas.get(*T0).partition.is_leader
    assert led.metadata.leader_of(*T0) == 1
    assert led.metadata.controller_id != 3


@pytest.mark.parametrize("request_of", [leader_and_isr, stop_replica, update_metadata])
async def test_trap_8_broker_obeys_a_newer_controller_from_its_first_word_on(led, request_of):
    led.store.epochs = (6, 70)
    request, version = request_of(controller_epoch=6, broker_epoch=70)
    client = await led.member()
    assert (await client.ask(request, version)).error_code == ErrorCode.NONE
    request, version = update_metadata(controller_epoch=5, broker_epoch=70)
    assert (await client.ask(request, version)).error_code == ErrorCode.STALE_CONTROLLER_EPOCH


@pytest.mark.parametrize("request_of", [leader_and_isr, stop_replica, update_metadata])
@pytest.mark.parametrize(
    ("controller_epoch", "broker_epoch", "code"),
    [(2**31 - 1, 70, ErrorCode.STALE_CONTROLLER_EPOCH), (5, 2**62, ErrorCode.STALE_BROKER_EPOCH)],
    ids=["controller to come", "registration to come"],
)
async def test_an_epoch_that_zookeeper_does_not_know_changes_nothing(
    led, request_of, controller_epoch, broker_epoch, code
):
    client = await led.member()
    request, version = request_of(controller_epoch=controller_epoch, broker_epoch=broker_epoch)
    assert (await client.ask(request, version)).error_code == code
    assert led.replicas.get(*T0).partition.is_leader
    assert led.metadata.controller_id != 3
    request, version = update_metadata(controller_epoch=5, broker_epoch=70)
    assert (await client.ask(request, version)).error_code == ErrorCode.NONE


async def test_a_controller_that_has_seen_our_registration_before_us_is_obeyed(led):
    led.store.epochs = (5, 71)
    request, version = update_metadata(controller_epoch=5, broker_epoch=71)
    assert (await (await led.member()).ask(request, version)).error_code == ErrorCode.NONE
    assert led.replicas.broker_epoch == 71


async def test_zookeeper_is_asked_for_news_only(led):
    client = await led.member()
    for _ in range(3):
        request, version = update_metadata(controller_epoch=5, broker_epoch=70)
        await client.ask(request, version)
    assert led.store.epochs_read == 0
    led.store.epochs = (7, 70)
    for epoch in (6, 6, 7, 7):
        request, version = update_metadata(controller_epoch=epoch, broker_epoch=70)
        await client.ask(request, version)
    assert led.store.epochs_read == 1
    assert led.replicas.controller_epoch == 7


@pytest.mark.parametrize(
    ("topic_id", "leader_epoch", "replicas", "is_led_still"),
    [
        (TOPIC_ID, 9, [2, 3], False),
        (TOPIC_ID, 9, [2, 1], True),
        (TOPIC_ID, 0, [2, 3], True),
        (UUID(int=99), 9, [2, 3], True),
    ],
    ids=["moved away", "still here", "told of before", "another topic"],
)
async def test_trap_13_leader_whose_partition_was_moved_while_it_was_cut_off_leads_no_more(
    led, topic_id, leader_epoch, replicas, is_led_still
):
    state = UpdateMetadataPartitionState(
        partition_index=0, leader=2, leader_epoch=leader_epoch, isr=[2], replicas=replicas
    )
    topic = UpdateMetadataTopicState(topic_name="t", topic_id=topic_id, partition_states=[state])
    led.store.epochs = (6, 70)
    request = UpdateMetadataRequest(controller_id=3, topic_states=[topic], controller_epoch=6, broker_epoch=70)
    client = await led.member()
    assert (await client.ask(request, 8)).error_code == ErrorCode.NONE
    assert (led.replicas.get(*T0) is not None) == is_led_still


async def test_a_broker_whose_log_is_missing_answers_the_role_it_cannot_take_with_the_extent_of_an_empty_log(led):
    """The controller must know it from this life of the broker: a note in ZooKeeper may be of an earlier one."""
    led.replicas.logs._logs.withheld.add(TopicPartition("t", 1))
    states = [
        LeaderAndIsrPartitionState(partition_index=1, leader=leader, leader_epoch=epoch, isr=[1], replicas=[1, 2])
        for leader, epoch in ((1, 9), (2, 10))
    ]
    extents = []
    for state in states:
        topic = LeaderAndIsrTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=[state])
        request = LeaderAndIsrRequest(controller_id=3, controller_epoch=5, broker_epoch=70, topic_states=[topic])
        response = await (await led.member()).ask(request, 7)
        (error,) = response.topics[0].partition_errors
        extents.append((error.error_code, error.last_epoch, error.log_end_offset))
    assert extents == [(ErrorCode.REPLICA_NOT_AVAILABLE, -1, 0), (ErrorCode.NONE, -1, -1)]
