"""What is proposed over minutes of a cluster's life: each history is a list of looks, and what is due at its end."""

from dataclasses import replace

import pytest

from console.automation.healing.acting import AGAIN_MS, COOL_DOWN_MS, InSync, TriedRemedy, why_not_act, why_unsafe
from console.automation.healing.kinds import DEFAULTS, HealingMode, TroubleKind, TroubleRule
from console.automation.healing.symptoms import BrokerSymptoms, HealingFacts
from console.automation.healing.watch import SymptomWatch

STEP_MS = 10_000
MINUTE_MS = 60_000
ACTS = {kind: replace(rule, mode=HealingMode.ACT) for kind, rule in DEFAULTS.items()}
AFTER = DEFAULTS[TroubleKind.BROKER_GONE].minutes


def brokers(count: int = 6, away: tuple[int, ...] = (), racks: dict[int, str] | None = None, **named):
    return tuple(
        BrokerSymptoms(
            broker_id=index,
            rack=(racks or {}).get(index, ""),
            is_registered=index not in away,
            replicas=10,
            preferred=10,
            preferred_elsewhere=10 if index in away else 0,
            **named,
        )
        for index in range(1, count + 1)
    )


class Life:
    """A watch that looks every ten seconds at what it is told there is."""

    def __init__(self, rules=DEFAULTS):
        self.watch, self.now_ms, self.rules = SymptomWatch(), 1_000_000_000, rules

    def passes(self, minutes: float, seen=None, looks: bool = True, **facts):
        result = None
        for _ in range(int(minutes * MINUTE_MS / STEP_MS)):
            self.now_ms += STEP_MS
            if looks:
                given = {"seen_at_ms": self.now_ms - 1_000, "brokers": brokers() if seen is None else seen} | facts
                self.facts = HealingFacts(now_ms=self.now_ms, **given)
                result = self.watch.look(self.facts, self.rules)
        return result


def causes(expected) -> list[str]:
    return [symptom.cause for symptom in expected.due]


def test_a_broker_that_stays_away_is_due_after_its_minutes_and_not_before():
    life = Life()
    before = life.passes(AFTER - 1, brokers(away=(3,)))
    assert causes(before) == []
    assert [item.symptom.cause for item in before.waiting] == ["broker 3 gone"]
    assert causes(life.passes(2, brokers(away=(3,)))) == ["broker 3 gone"]


def test_a_broker_that_comes_back_and_leaves_again_begins_anew():
    life = Life()
    for _ in range(10):
        assert causes(life.passes(AFTER - 2, brokers(away=(3,)))) == []
        assert causes(life.passes(0.2, brokers())) == []


def test_two_brokers_that_die_are_two_proposals_and_neither_is_acted_on():
    life = Life(ACTS)
    passes = life.passes(AFTER + 1, brokers(away=(3, 5)))
    assert causes(passes) == ["broker 3 gone", "broker 5 gone"]
    why = why_not_act(ACTS[TroubleKind.BROKER_GONE], "broker 3 gone", life.facts, [])
    assert why == "2 brokers are away at once: a person decides."


def test_half_of_all_brokers_away_is_no_reason_to_copy_anything():
    passes = Life().passes(AFTER + 1, brokers(4, away=(3, 4)))
    assert causes(passes) == []
    assert "half of all or more" in passes.held[TroubleKind.BROKER_GONE]


def test_a_rack_that_is_lost_is_a_rack_and_not_its_brokers():
    racks = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"}
    passes = Life().passes(AFTER + 1, brokers(away=(3, 4), racks=racks))
    assert causes(passes) == []
    assert "Every broker of rack b" in passes.held[TroubleKind.BROKER_GONE]
    assert causes(Life().passes(AFTER + 1, brokers(away=(3, 5), racks=racks))) == ["broker 3 gone", "broker 5 gone"]


def test_a_rack_of_one_broker_is_that_broker():
    racks = {index: f"rack-{index}" for index in range(1, 7)}
    assert causes(Life().passes(AFTER + 1, brokers(away=(3,), racks=racks))) == ["broker 3 gone"]


def test_while_brokers_are_restarted_by_plan_nobody_is_gone_and_time_does_not_count():
    life = Life()
    passes = life.passes(AFTER + 5, brokers(away=(3,)), operation="A rolling restart")
    assert causes(passes) == []
    assert "A rolling restart is under way" in passes.held[TroubleKind.BROKER_GONE]
    assert causes(life.passes(AFTER - 1, brokers(away=(3,)))) == []
    assert causes(life.passes(2, brokers(away=(3,)))) == ["broker 3 gone"]


def test_a_collector_that_was_away_does_not_count_the_time():
    life = Life()
    life.passes(AFTER - 1, brokers(away=(3,)))
    life.passes(30, looks=False)
    assert causes(life.passes(AFTER - 1, brokers(away=(3,)))) == []


def test_a_moment_without_an_answer_is_no_hole_and_a_long_one_is():
    life = Life()
    life.passes(AFTER - 1, brokers(away=(3,)))
    blind = life.passes(0.5, brokers(away=(3,)), error="no broker answers")
    assert blind.present is None
    assert causes(life.passes(1, brokers(away=(3,)))) == ["broker 3 gone"]
    life.passes(2, error="no broker answers")
    assert causes(life.passes(1, brokers(away=(3,)))) == []


def test_what_was_seen_long_ago_is_not_known():
    life = Life()
    assert life.passes(AFTER + 1, brokers(away=(3,)), seen_at_ms=1_000_000_000).present is None


def test_a_clock_that_is_set_back_begins_anew():
    life = Life()
    life.passes(AFTER - 1, brokers(away=(3,)))
    life.now_ms -= 3_600_000
    assert causes(life.passes(2, brokers(away=(3,)))) == []


def test_a_broker_that_somebody_stopped_is_not_replaced():
    stopped = tuple(replace(broker, is_stopped_by_wish=not broker.is_registered) for broker in brokers(away=(3,)))
    passes = Life().passes(AFTER + 1, stopped)
    assert causes(passes) == []
    assert "stopped by hand" in passes.held[TroubleKind.BROKER_GONE]


def test_a_broker_that_holds_nothing_is_not_missed():
    empty = tuple(replace(broker, replicas=0 if broker.broker_id == 3 else 10) for broker in brokers(away=(3,)))
    passes = Life().passes(AFTER + 1, empty)
    assert (causes(passes), passes.waiting) == ([], ())


def elsewhere(**named):
    """Broker 2 should lead ten partitions and leads seven."""
    seen = brokers()
    return tuple(
        replace(broker, preferred_elsewhere=3, **named) if broker.broker_id == 2 else broker for broker in seen
    )


def test_leaders_that_do_not_go_back_by_themselves_are_elected():
    assert causes(Life().passes(11, elsewhere())) == ["leaders"]
    few = {**DEFAULTS, TroubleKind.LEADERS: replace(DEFAULTS[TroubleKind.LEADERS], limit=30)}
    assert causes(Life(few).passes(11, elsewhere())) == []


def test_leaders_are_not_given_to_who_came_just_now_or_comes_and_goes():
    life = Life()
    assert causes(life.passes(11, elsewhere(changed_at_ms=life.now_ms + 10 * MINUTE_MS))) == []
    assert causes(Life().passes(11, elsewhere(is_flapping=True))) == []


@pytest.mark.parametrize(
    "facts", [{"lacking": 3}, {"moving": True}, {"seen": brokers(away=(6,))}], ids=["lacking", "moving", "away"]
)
def test_nothing_is_evened_out_while_something_is_broken_or_moves(facts):
    seen = facts.pop("seen", brokers())
    uneven = tuple(replace(broker, disk_used_percent=90 if broker.broker_id == 2 else 20) for broker in seen)
    passes = Life().passes(11, uneven, **facts)
    assert "disk of broker 2" not in causes(passes)
    assert passes.held[TroubleKind.DISK]


def test_a_full_disk_is_a_trouble_if_another_has_room():
    full = tuple(replace(broker, disk_used_percent=90 if broker.broker_id == 2 else 20) for broker in brokers())
    assert causes(Life().passes(11, full)) == ["disk of broker 2"]
    assert causes(Life().passes(11, tuple(replace(broker, disk_used_percent=90.0) for broker in brokers()))) == []


def test_a_hot_broker_is_one_with_much_traffic_and_not_twice_of_nearly_nothing():
    def taking(rate: float):
        return tuple(
            replace(broker, bytes_per_second=rate * (9 if broker.broker_id == 2 else 1)) for broker in brokers()
        )

    assert causes(Life().passes(31, taking(1_000_000))) == ["broker 2 hot"]
    assert causes(Life().passes(31, taking(1_000))) == []


def test_what_is_off_is_never_due():
    off = {kind: replace(rule, mode=HealingMode.OFF) for kind, rule in DEFAULTS.items()}
    passes = Life(off).passes(AFTER + 1, brokers(away=(3,)))
    assert (causes(passes), passes.waiting) == ([], ())


GONE = HealingFacts(now_ms=2 * AGAIN_MS, seen_at_ms=2 * AGAIN_MS, brokers=brokers(away=(3,)))
RULE = ACTS[TroubleKind.BROKER_GONE]


def test_one_broker_gone_may_be_acted_on():
    assert why_not_act(RULE, "broker 3 gone", GONE, []) == ""


@pytest.mark.parametrize(
    ("rule", "changes", "tried", "why"),
    [
        (replace(RULE, mode=HealingMode.PROPOSE), {}, [], "A person decides."),
        (RULE, {"operation": "A decommission"}, [], "A decommission is under way"),
        (RULE, {"moving": True}, [], "being reassigned"),
        (RULE, {"error": "no answer"}, [], "cannot be seen"),
        (RULE, {"brokers": brokers(away=(3,), is_flapping=True)}, [], "comes and goes"),
        (RULE, {}, [TriedRemedy("leaders", GONE.now_ms - COOL_DOWN_MS + 1)], "within 30 minutes"),
        (RULE, {}, [TriedRemedy("broker 3 gone", GONE.now_ms - AGAIN_MS + 1)], "within a day and is back"),
        (ACTS[TroubleKind.LEADERS], {}, [], "a broker is away"),
    ],
    ids=["propose", "operation", "moving", "blind", "flapping", "cool-down", "again", "leaders"],
)
def test_nobody_acts_while(rule: TroubleRule, changes, tried, why: str):
    assert why in why_not_act(rule, "broker 3 gone", replace(GONE, **changes), tried)


def test_a_rest_ends():
    rested = [TriedRemedy("leaders", GONE.now_ms - COOL_DOWN_MS), TriedRemedy("broker 3 gone", GONE.now_ms - AGAIN_MS)]
    assert why_not_act(RULE, "broker 3 gone", GONE, rested) == ""


def test_a_partition_whose_records_are_only_on_the_broker_that_is_away_is_left_alone():
    alive = frozenset({1, 2, 4})
    targets = {("a", 0): (1, 4), ("a", 1): (2, 4), ("a", 2): (4,), ("a", 3): (1, 3), ("a", 4): (4, 2)}
    in_sync = {
        ("a", 0): InSync((1,), 2),
        ("a", 1): InSync((3,), 1),
        ("a", 2): InSync((1,), 2),
        ("a", 3): InSync((1,), 1),
        ("a", 4): InSync((1,), 2),
    }
    result = why_unsafe(targets, in_sync, alive)
    assert set(result) == {("a", 1), ("a", 2), ("a", 3), ("a", 4)}
    assert "nowhere else" in result["a", 1]
    assert "below its minimum" in result["a", 4]
