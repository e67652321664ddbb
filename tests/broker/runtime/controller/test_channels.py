"""In which order brokers are told: roles before the metadata that sends clients to them."""

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.cluster import BrokerEndpoint, BrokerRegistration, LeaderAndIsr, LiveBroker, MemberListeners
from broker.common.types import TopicPartition
from broker.controller.effects import PartitionTold, SendLeaderAndIsr, SendUpdateMetadata
from broker.net.dialer import PeerUnreachable
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages import MESSAGES
from broker.runtime.controller import channels as controller_channels
from broker.runtime.controller.channels import ControllerChannels
from tests.eventually import eventually
from tests.members import dialer

LEADER, OTHER = 1, 2
ROLE, METADATA = ApiKey.LEADER_AND_ISR, ApiKey.UPDATE_METADATA
TOLD = PartitionTold(TopicPartition("t", 0), UUID(int=1), LeaderAndIsr(LEADER, 0, (LEADER,), 1), (LEADER,))


class Wire:
    """Stands for all connections; a broker answers LeaderAndIsr when it may."""

    def __init__(self):
        self.received: list[tuple[int, ApiKey]] = []
        self.may_take_role = asyncio.Event()
        self.defects: list[Exception] = []

    def connection(self, _dialer, _host, port, _client_id):
        return Connection(self, port)


class Connection:
    def __init__(self, wire: Wire, broker_id: int):
        self._wire = wire
        self._broker_id = broker_id

    async def connect(self, _timeout_ms):
        pass

    async def request(self, message, _version, _timeout_ms):
        self._wire.received.append((self._broker_id, message.api))
        if self._wire.defects:
            raise self._wire.defects.pop(0)
        if message.api == ROLE:
            await self._wire.may_take_role.wait()
        return MESSAGES[message.api].response()

    def close(self):
        pass


def live(broker_id: int) -> LiveBroker:
    return LiveBroker(BrokerRegistration(broker_id, (BrokerEndpoint("PLAINTEXT", "host", broker_id),)), epoch=1)


@pytest.fixture
async def wire_and_channels(monkeypatch):
    """Wire and channels, after a role was given to LEADER and metadata to both."""
    wire = Wire()
    monkeypatch.setattr("broker.net.outbound.OutboundConnection", wire.connection)
    channels = ControllerChannels(LEADER, lambda _event: None, dialer())
    for broker_id in (LEADER, OTHER):
        channels.open(live(broker_id))
    channels.send_leader_and_isr(SendLeaderAndIsr(LEADER, 1, (TOLD,), ()))
    channels.send_update_metadata(SendUpdateMetadata((LEADER, OTHER), 1, (TOLD,), (live(LEADER), live(OTHER))))
    await eventually(lambda: (LEADER, ROLE) in wire.received, "the leader was given its role")
    yield wire, channels
    channels.close_all()


async def test_nobody_hears_of_a_leader_before_it_has_taken_its_role(wire_and_channels):
    wire, _ = wire_and_channels
    assert wire.received == [(LEADER, ROLE)]
    wire.may_take_role.set()
    await eventually(lambda: len(wire.received) == 3, "both were told")
    assert set(wire.received[1:]) == {(LEADER, METADATA), (OTHER, METADATA)}


async def test_a_leader_that_dies_holds_nobody_up(wire_and_channels):
    wire, channels = wire_and_channels
    channels.close(LEADER)
    await eventually(lambda: (OTHER, METADATA) in wire.received, "the other was told")


async def test_a_leader_that_does_not_answer_holds_the_others_up_for_a_moment_only(wire_and_channels):
    wire, _ = wire_and_channels
    await eventually(lambda: (OTHER, METADATA) in wire.received, "the other was told all the same")
    assert not wire.may_take_role.is_set()


async def test_what_raises_unforeseen_costs_one_request_or_one_answer_and_not_the_channel(monkeypatch):
    monkeypatch.setattr(controller_channels, "_BACK_OFF_FIRST_S", 0)
    monkeypatch.setattr("broker.runtime.periodic.AFTER_FAILURE_S", 0)
    wire, answers = Wire(), []
    wire.may_take_role.set()
    wire.defects = [RuntimeError("a defect of a connection")]
    monkeypatch.setattr("broker.net.outbound.OutboundConnection", wire.connection)

    def deliver(event) -> None:
        answers.append(event)
        if len(answers) == 1:
            raise RuntimeError("a defect of who hears of an answer")

    channels = ControllerChannels(LEADER, deliver, dialer())
    channels.open(live(LEADER))
    for _ in range(2):
        channels.send_leader_and_isr(SendLeaderAndIsr(LEADER, 1, (TOLD,), ()))
    await eventually(lambda: len(answers) == 2, "both roles are answered")
    assert wire.received == 3 * [(LEADER, ROLE)], "the first one twice"
    channels.close_all()


async def test_what_waits_for_a_broker_reaches_it_where_it_listens_now(monkeypatch):
    dialled = []

    class Unreachable(Connection):
        async def connect(self, _timeout_ms):
            if self._broker_id == LEADER:
                raise PeerUnreachable("its listener is closed")

    wire = Wire()
    wire.may_take_role.set()

    def connection(_dialer, _host, port, _client_id):
        dialled.append(port)
        return Unreachable(wire, port)

    monkeypatch.setattr("broker.net.outbound.OutboundConnection", connection)
    channels = ControllerChannels(LEADER, lambda _event: None, dialer())
    channels.open(live(LEADER))
    channels.send_leader_and_isr(SendLeaderAndIsr(LEADER, 1, (TOLD,), ()))
    await eventually(lambda: dialled == [LEADER], "the channel tries where it was")
    moved = BrokerEndpoint("PLAINTEXT", "host", 4711)
    channels.open(replace(live(LEADER), registration=BrokerRegistration(LEADER, (moved,))))
    await eventually(lambda: wire.received == [(4711, ROLE)], "the same request reaches it elsewhere")
    channels.close_all()


async def test_a_broker_without_the_controllers_listener_is_waited_for(monkeypatch):
    wire = Wire()
    wire.may_take_role.set()
    monkeypatch.setattr("broker.net.outbound.OutboundConnection", wire.connection)
    channels = ControllerChannels(LEADER, lambda _event: None, dialer(), MemberListeners("PLAINTEXT", "CONTROL"))
    channels.open(live(LEADER))
    channels.send_leader_and_isr(SendLeaderAndIsr(LEADER, 1, (TOLD,), ()))
    with capture_logs() as lines:
        await eventually(lambda: lines, "it is told")
    assert lines[0]["reason"] == f"broker {LEADER} advertises no listener CONTROL"
    both = (*live(LEADER).registration.endpoints, BrokerEndpoint("CONTROL", "host", 4711))
    channels.open(replace(live(LEADER), registration=BrokerRegistration(LEADER, both)))
    await eventually(lambda: wire.received == [(4711, ROLE)], "it is asked when it has one")
    channels.close_all()
