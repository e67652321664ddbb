"""The prober finds a broker that is there and does not answer."""

import socket
from random import Random
from types import SimpleNamespace
from unittest import mock

import pytest

from broker.protocol.messages.heartbeat import HeartbeatRequest
from tests.simulation.broker_process import PORT, ClientProcess
from tests.simulation.client import ClusterClient
from tests.simulation.disk import Disk
from tests.simulation.history import History
from tests.simulation.loop import HostLoop
from tests.simulation.network import Network
from tests.simulation.prober import Prober
from tests.simulation.sockets import Machine, SimulatedSocket
from tests.simulation.syscalls import Syscalls
from tests.simulation.timeline import Timeline


@pytest.fixture
def world():
    timeline = Timeline()
    network = Network(timeline, Random(1))
    return SimpleNamespace(
        timeline=timeline, network=network, history=History(timeline), internet={}, syscalls=Syscalls(Disk())
    )


@pytest.mark.parametrize("is_undisturbed", [True, False])
def test_a_broker_that_takes_requests_and_never_answers_is_found_unless_something_befell_it(world, is_undisturbed):
    machine = Machine("broker-1", "10.0.0.1", world.network, Random(1), world.internet)
    silent = SimulatedSocket(loop=HostLoop(world.timeline, machine, "broker-1", world.syscalls))
    silent.bind(("10.0.0.1", PORT))
    silent.listen()
    process = ClientProcess(world, "prober", 1, Random(1))
    client = ClusterClient(process, [1])
    prober = Prober("prober", client, world.history, ["g"], process.now_us, lambda broker_id, since: is_undisturbed)
    prober.lines["g"].broker_id = 1
    process.run(prober.probe(prober.lines["g"], HeartbeatRequest(group_id="g", generation_id=0, member_id="m"), 3))
    with mock.patch.object(socket, "socket", SimulatedSocket):
        world.timeline.run(process_is_done(process), 10_000)
    assert len(world.history.violations) == int(is_undisturbed)


def process_is_done(process: ClientProcess):
    return lambda: process.task is not None and process.task.done()
