"""Whatever workers come and go: nothing runs twice, nothing is left, and who returns in time moves nothing else."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from broker.connect.group.assignment import Balancer
from broker.connect.group.wire import CONNECTOR, Unit, WorkerAssignment
from tests.examples import examples

DELAY_MS = 1_000


def units(connectors: int, tasks: int) -> set[Unit]:
    return {Unit(f"c{c}", t) for c in range(connectors) for t in (CONNECTOR, *range(tasks))}


class Group:
    """A leader and what each member runs; a member may miss the answer of a round."""

    def __init__(self, delay_ms: int = DELAY_MS):
        self.balancer = Balancer(delay_ms)
        self.now_ms = 0
        self.generation = self.completed = 0
        self.runs: dict[str, frozenset[Unit]] = {}
        self.configured: set[Unit] = set()
        self.waits_until: int | None = None

    def round(self, missing: frozenset[str] = frozenset()) -> bool:
        """Whether somebody has to join again at once."""
        self.generation += 1
        decided = self.balancer.assign(self.now_ms, self.generation, self.completed, self.configured, self.runs)
        self.completed = self.generation
        for member in self.runs.keys() - missing:
            ran, revoked = self.runs[member], decided.revoked[member]
            answer = WorkerAssignment(units=decided.assigned[member] - ran, revoked=revoked)
            self.runs[member] = answer.on_top_of(WorkerAssignment(units=ran)).units
            assert self.runs[member] == decided.assigned[member], "what is taken is said, too"
        self.waits_until = self.now_ms + decided.delay_ms if decided.delay_ms else None
        return any(decided.revoked.values()) or bool(missing)

    def converge(self) -> None:
        for _ in range(50):
            if self.round():
                continue
            if self.waits_until is None:
                return
            self.now_ms = self.waits_until
        raise AssertionError("rounds without end")


class Rounds(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.group = Group()
        self.next_member = 0

    @rule()
    def worker_comes(self):
        self.group.runs[f"w{self.next_member}"] = frozenset()
        self.next_member += 1

    @precondition(lambda self: self.group.runs)
    @rule(data=st.data())
    def worker_goes(self, data):
        del self.group.runs[data.draw(st.sampled_from(sorted(self.group.runs)))]

    @rule(connectors=st.integers(0, 4), tasks=st.integers(0, 5))
    def configured_anew(self, connectors, tasks):
        self.group.configured = units(connectors, tasks)

    @rule(data=st.data())
    def round_which_some_miss(self, data):
        missing = data.draw(st.sets(st.sampled_from(sorted(self.group.runs)))) if self.group.runs else set()
        self.group.round(frozenset(missing))

    @rule()
    def leader_changes(self):
        self.group.balancer = Balancer(DELAY_MS)

    @rule(passed_ms=st.integers(1, DELAY_MS))
    def time_passes(self, passed_ms):
        self.group.now_ms += passed_ms

    @precondition(lambda self: self.group.runs)
    @rule()
    def all_is_assigned_once_and_evenly_in_the_end(self):
        self.group.converge()
        everything = [unit for run in self.group.runs.values() for unit in run]
        assert sorted(everything) == sorted(self.group.configured)
        for kind in (True, False):
            loads = [sum(unit.is_connector is kind for unit in run) for run in self.group.runs.values()]
            assert max(loads) - min(loads) <= 1

    @invariant()
    def nothing_runs_twice(self):
        everything = [unit for run in self.group.runs.values() for unit in run]
        assert len(everything) == len(set(everything))


TestRounds = Rounds.TestCase
TestRounds.settings = settings(max_examples=examples(60), stateful_step_count=25)


@given(st.integers(2, 5), st.integers(1, 5), st.integers(1, 6), st.data())
@settings(max_examples=examples(60))
def test_a_worker_that_returns_within_the_delay_moves_nothing_else(workers, connectors, tasks, data):
    group = Group()
    group.configured = units(connectors, tasks)
    group.runs = {f"w{n}": frozenset() for n in range(workers)}
    group.converge()
    gone = data.draw(st.sampled_from(sorted(group.runs)))
    before = dict(group.runs)
    had = group.runs.pop(gone)
    group.round()
    group.now_ms += data.draw(st.integers(0, DELAY_MS - 1))
    group.runs["back"] = frozenset()
    group.round()
    assume(had and all(units for member, units in before.items()))
    assert all(group.runs[member] == before[member] for member in before if member != gone)
    group.converge()
    assert group.runs["back"] == had
    assert all(group.runs[member] == before[member] for member in before if member != gone)


def test_the_work_of_one_that_does_not_return_is_shared_after_the_delay():
    group = Group()
    group.configured = units(2, 4)
    group.runs = {"a": frozenset(), "b": frozenset(), "c": frozenset()}
    group.converge()
    lost = group.runs.pop("c")
    group.round()
    assert not lost & (group.runs["a"] | group.runs["b"])
    group.converge()
    assert lost <= group.runs["a"] | group.runs["b"]


def test_what_two_say_they_run_is_taken_from_both_first():
    group = Group()
    group.configured = units(1, 1)
    group.runs = {"a": frozenset(group.configured), "zombie": frozenset(group.configured)}
    group.round()
    assert group.runs == {"a": frozenset(), "zombie": frozenset()}
    group.converge()
    assert group.runs["a"] | group.runs["zombie"] == group.configured


def test_without_a_delay_lost_work_is_given_at_once():
    group = Group(delay_ms=0)
    group.configured = units(1, 4)
    group.runs = {"a": frozenset(), "b": frozenset()}
    group.converge()
    del group.runs["b"]
    group.round()
    assert group.runs["a"] == group.configured
