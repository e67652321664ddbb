from random import Random

from tests.simulation.network import Lane, Network
from tests.simulation.timeline import Timeline


def _run(timeline: Timeline) -> None:
    timeline.run(lambda: False, 10_000)


def test_nothing_overtakes_inside_a_lane_and_lanes_overtake_each_other():
    timeline, arrived = Timeline(), []
    network = Network(timeline, Random(1))
    lanes = [Lane(network, "a", "b") for _ in range(2)]
    for number in range(100):
        lanes[number % 2].send(lambda number=number: arrived.append(number))
    _run(timeline)
    assert [number for number in arrived if number % 2] == list(range(1, 100, 2))
    assert [number for number in arrived if number % 2 == 0] == list(range(0, 100, 2))
    assert arrived != sorted(arrived)


def test_a_cut_link_keeps_what_it_carries_in_one_direction_only():
    timeline, arrived = Timeline(), []
    network = Network(timeline, Random(1))
    there, back = Lane(network, "a", "b"), Lane(network, "b", "a")
    network.cut("a", "b")
    there.send(lambda: arrived.append("there"))
    back.send(lambda: arrived.append("back"))
    _run(timeline)
    assert arrived == ["back"]
    network.mend("a", "b")
    _run(timeline)
    assert arrived == ["back", "there"]


def test_a_connection_that_breaks_delivers_a_beginning():
    timeline, arrived = Timeline(), []
    lane = Lane(Network(timeline, Random(1)), "a", "b")
    for number in range(5):
        lane.send(lambda number=number: arrived.append(number))
    lane.lose(keep=2)
    _run(timeline)
    assert arrived == [0, 1]
