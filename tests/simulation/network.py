"""The network between machines: links with delays, that can be cut in one direction or in both.

A lane is what one connection sends in one direction. Nothing overtakes inside a lane; lanes overtake each other freely.
While a link is cut its lanes keep what they carry, as TCP does, and deliver it after the link is whole again.
"""

from collections import deque
from collections.abc import Callable
from random import Random

from tests.simulation.timeline import Timeline

#: One way, in most cases; now and then something takes ten times as long. The most is drawn for each run.
_DELAY_US_MIN = 50
_DELAY_US_MAX = (500, 1_500, 15_000)
_SLOW_SHARE = 0.02
_SLOW_FACTOR = 10


class Network:
    """Machines are named; any two have a link."""

    def __init__(self, timeline: Timeline, random: Random):
        self.timeline = timeline
        self._random = random
        self._delay_us_span = random.choice(_DELAY_US_MAX) - _DELAY_US_MIN + 1
        self._cut: set[tuple[str, str]] = set()
        self._slow: dict[str, int] = {}
        self._held: dict[tuple[str, str], list[Lane]] = {}

    def is_cut(self, source: str, target: str) -> bool:
        return (source, target) in self._cut

    @property
    def is_any_cut(self) -> bool:
        return bool(self._cut)

    def cut(self, source: str, target: str) -> None:
        """One way: nothing of `source` reaches `target`."""
        self._cut.add((source, target))

    def mend(self, source: str, target: str) -> None:
        self._cut.discard((source, target))
        for lane in self._held.pop((source, target), []):
            lane.resume()

    def mend_all(self) -> None:
        for link in sorted(self._cut):
            self.mend(*link)
        self._slow.clear()

    def slow_down(self, machine: str, extra_us: int) -> None:
        """Whatever goes to or comes from a machine takes up to so much longer; 0 ends that."""
        self._slow[machine] = extra_us

    def is_slow(self, machine: str) -> bool:
        return self._slow.get(machine, 0) > 0

    def delay_us(self, source: str, target: str) -> int:
        # As randint does, which is the dearest part of sending a message.
        span, bits, draw = self._delay_us_span, self._delay_us_span.bit_length(), self._random.getrandbits
        while (delay := draw(bits)) >= span:
            pass
        delay += _DELAY_US_MIN
        if self._random.random() < _SLOW_SHARE:
            delay *= _SLOW_FACTOR
        extra = max(self._slow.get(source, 0), self._slow.get(target, 0))
        return delay + (self._random.randint(0, extra) if extra else 0)

    def hold(self, lane: "Lane") -> None:
        self._held.setdefault((lane.source, lane.target), []).append(lane)


class Lane:
    """Delivers in order: each thing sent is a function that is called when it arrives."""

    def __init__(self, network: Network, source: str, target: str):
        self.source = source
        self.target = target
        self._network = network
        self._under_way: deque[Callable[[], None]] = deque()
        self._last_arrival_us = 0
        self._is_held = False

    def send(self, arrive: Callable[[], None]) -> None:
        self._under_way.append(arrive)
        if not self._is_held:
            self._plan()

    def _plan(self) -> None:
        timeline = self._network.timeline
        at_us = timeline.now_us + self._network.delay_us(self.source, self.target)
        self._last_arrival_us = max(self._last_arrival_us, at_us)
        timeline.plan(self._last_arrival_us, self._arrive)

    def _arrive(self) -> None:
        if self._is_held or not self._under_way:
            return
        if self._network.is_cut(self.source, self.target):
            self._is_held = True
            self._network.hold(self)
            return
        self._under_way.popleft()()

    def resume(self) -> None:
        self._is_held = False
        for _ in self._under_way:
            self._plan()

    def lose(self, keep: int = 0) -> None:
        """Of what is under way only the first `keep` things still arrive."""
        while len(self._under_way) > keep:
            self._under_way.pop()

    def __len__(self) -> int:
        return len(self._under_way)
