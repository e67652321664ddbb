import json

import pytest

from console.cluster.placement.move import PARTITIONS_MAX, PlacementFacts, flat, nested, parse_targets, plan_moves
from console.kit.gateway.moves.interface import MoveView


def world(**changes) -> PlacementFacts:
    facts = {
        "present": {("orders", 0): (1, 2), ("orders", 1): (2, 3)},
        "under_way": {},
        "alive": frozenset({1, 2, 3, 4}),
        "sizes": {("orders", 0): 4_000_000, ("orders", 1): 1_000_000},
        "replica_counts": {1: 1, 2: 2, 3: 1, 4: 0},
        "preferred_counts": {1: 1, 2: 1, 3: 0, 4: 0},
    }
    return PlacementFacts(**{**facts, **changes})


def sentences(expected) -> str:
    return " ".join(expected.as_plan("here:9092").touches)


def test_only_what_differs_moves_and_is_measured():
    plan = plan_moves({("orders", 0): (4, 2), ("orders", 1): (2, 3)}, world())

    (move,) = plan.moves
    assert (move.name, move.adding, move.removing, move.copied_bytes) == ("orders-0", (4,), (1,), 4_000_000)
    assert plan.stays == ("orders-1",)
    assert plan.copied_bytes == 4_000_000
    assert plan.brokers == (1, 2, 4)
    assert plan.obstacle == ""


def test_what_each_broker_holds_then_is_counted():
    plan = plan_moves({("orders", 0): (4, 2)}, world())

    assert [(replica.broker_id, replica.before, replica.after) for replica in plan.replicas] == [
        (1, 1, 0),
        (2, 2, 2),
        (3, 1, 1),
        (4, 0, 1),
    ]
    assert [(load.broker_id, load.after) for load in plan.preferred] == [(1, 0), (2, 1), (3, 0), (4, 1)]


def test_the_plan_says_what_is_copied_touched_and_undone():
    move_plan = plan_moves({("orders", 0): (4, 2)}, world(), rate=2_000_000)
    plan = move_plan.as_plan("here:9092")

    assert "It copies 4 MB to broker 4." in sentences(move_plan).replace("\u202f", " ")
    assert "replicas are deleted from broker 1" in sentences(move_plan)
    assert "Brokers touched: 1, 2, 4." in sentences(move_plan)
    assert "The throttle is taken away by itself" in sentences(move_plan)
    assert plan.command.endswith("--reassignment-json-file moves.json --execute --throttle 2000000")
    assert plan.before == {"orders-0": [1, 2]}
    assert move_plan.least_ms == 2_000
    assert json.loads(move_plan.json_file)["partitions"] == [{"topic": "orders", "partition": 0, "replicas": [4, 2]}]


def test_another_order_copies_nothing_and_says_so():
    plan = plan_moves({("orders", 0): (2, 1)}, world())

    assert plan.copied_bytes == 0
    assert "Only the order of replicas changes" in sentences(plan)


def test_another_replication_factor_is_shown_and_a_last_copy_warned_of():
    plan = plan_moves({("orders", 0): (1, 2, 3), ("orders", 1): (2,)}, world())

    assert "orders: 1 partition with 3 replicas instead of 2." in sentences(plan)
    assert "With one copy its records are lost with the disk" in plan.as_plan("here:9092").losses[0]


@pytest.mark.parametrize(
    ("targets", "changes", "says"),
    [
        ({("orders", 9): (1,)}, {}, "There is no partition orders-9."),
        ({("orders", 0): ()}, {}, "at least one for each partition: orders-0"),
        ({("orders", 0): (1, 1)}, {}, "Each broker is named once"),
        ({("orders", 0): (1, 9)}, {}, "Broker 9 is not registered"),
        ({("orders", 0): (2, 1)}, {"alive": frozenset({2})}, "Broker 1 is not registered"),
        (
            {("orders", 0): (1, 4)},
            {"under_way": {("orders", 0): MoveView((3, 1, 2), (3,), (2,))}},
            "Already being reassigned: orders-0.",
        ),
    ],
)
def test_what_cannot_be_done_now_is_an_obstacle(targets, changes, says):
    assert says in plan_moves(targets, world(**changes)).obstacle


def test_one_throttled_move_at_a_time():
    targets = {("orders", 0): (1, 4)}

    assert "A throttled move is under way (payments)" in plan_moves(targets, world(throttled_by="payments"), 1).obstacle
    assert plan_moves(targets, world(throttled_by="payments")).obstacle == ""


def test_the_confirmation_hangs_on_old_new_and_throttle_not_on_sizes():
    targets = {("orders", 0): (1, 4)}
    digest = plan_moves(targets, world()).as_plan("here").confirmed

    assert plan_moves(targets, world(sizes={})).as_plan("here").confirmed == digest
    assert plan_moves(targets, world(present={("orders", 0): (1, 3)})).as_plan("here").confirmed != digest
    assert plan_moves(targets, world(), 5).as_plan("here").confirmed != digest
    assert plan_moves({("orders", 0): (4, 1)}, world()).as_plan("here").confirmed != digest


def test_targets_travel_through_a_form_and_back():
    targets = {("orders", 0): (1, 4), ("orders", 10): (2,), ("payments", 0): (3,)}

    assert parse_targets(json.dumps(nested(targets))) == targets


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", '{"orders": 1}', '{"orders": {"x": [1]}}', '{"orders": {"0": ["1"]}}', '{"o": {"0": [-1]}}'),
        *('{"orders": {"-1": [1]}}', '{"orders": {"99999999999": [1]}}', "[" * 100_000, '{"a":' * 100_000),
    ],
)
def test_what_is_no_list_of_moves_is_refused(text):
    with pytest.raises(ValueError):
        parse_targets(text)


def test_more_than_one_plan_holds_is_refused():
    with pytest.raises(ValueError, match="more than"):
        parse_targets(json.dumps({"orders": {str(number): [1] for number in range(PARTITIONS_MAX + 1)}}))


def test_a_truth_value_is_no_broker():
    with pytest.raises(ValueError):
        flat({"orders": {"0": [True]}})
