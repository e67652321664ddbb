import pytest

from broker.cli.frame.declaration import CommandError
from broker.cli.placement.reassignment import parse_plan, plan_json, propose, replica_throttles
from broker.cli.placement.reassignment_states import ReplicaLocation, listed, log_dir_lines, partition_lines
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def entry(partition: int, replicas: list, **more) -> dict:
    return {"topic": "t", "partition": partition, "replicas": replicas, **more}


def test_a_plan_is_printed_as_kafka_prints_it_and_read_back():
    assert plan_json({P1: (2, 1), P0: (1,)}) == (
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["any"]},'
        '{"topic":"t","partition":1,"replicas":[2,1],"log_dirs":["any","any"]}]}'
    )
    plan = parse_plan([entry(0, [1, 2], log_dirs=["any", "/b"]), entry(1, [2])])
    assert plan.targets == {P0: (1, 2), P1: (2,)}
    assert plan.log_dirs == {(P0, 2): "/b"}


@pytest.mark.parametrize(
    ("listed_", "sentence"),
    [
        ([], "Partition reassignment data file is empty"),
        ([entry(0, [])], "Partition replica list cannot be empty for t-0"),
        ([entry(0, [1, 2, 1])], "t-0 contains multiple entries for 1"),
        ([entry(0, [1], log_dirs=5)], "The log_dirs of t-0 are paths, not 5."),
        ([entry(0, [1 << 40])], "The replicas of t-0 are broker ids, not [1099511627776]."),
        ([entry(0, ["1"])], "The replicas of t-0 are broker ids, not ['1']."),
        ([entry(0, [1]), entry(0, [2])], "Partition reassignment contains duplicate topic partitions: t-0"),
        (
            [entry(0, [1, 2], log_dirs=["/a"])],
            "Size of replicas list [1, 2] is different from size of log dirs list ['/a'] for partition t-0",
        ),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(listed_, sentence):
    with pytest.raises(CommandError) as refused:
        parse_plan(listed_)
    assert str(refused.value) == sentence


def test_a_proposal_spreads_each_topic_over_brokers_and_racks_with_as_many_replicas_as_it_has():
    current = {TopicPartition("t", at): (1, 2) for at in range(6)} | {TopicPartition("u", 0): (1,)}
    racks = {1: "a", 2: "a", 3: "b", 4: "b"}
    proposed = propose(current, racks, [(0, 0), (3, 1)])
    assert proposed.keys() == current.keys()
    assert all(len({racks[item] for item in proposed[TopicPartition("t", at)]}) == 2 for at in range(6))
    assert len(proposed[TopicPartition("u", 0)]) == 1


def test_who_gives_and_who_takes_is_throttled_also_of_moves_that_go_on_and_nobody_else():
    moves = {P1: ReplicaAssignment(replicas=(4, 2, 3), adding=(4,), removing=(3,))}
    topics, brokers = replica_throttles({P0: (1, 5), TopicPartition("u", 0): (2, 1)}, {
        P0: (1, 2), P1: (4, 2, 3), TopicPartition("u", 0): (1, 2),
    }, moves)  # fmt: skip
    assert topics == {
        "t": {
            "leader.replication.throttled.replicas": "0:1,0:2,1:2,1:3",
            "follower.replication.throttled.replicas": "0:5,1:4",
        }
    }
    assert brokers == {1, 2, 3, 4, 5}


def test_each_partition_is_done_moving_or_somewhere_else():
    targets = {P0: (1, 2), P1: (3, 1), TopicPartition("t", 2): (2,)}
    current = {P0: (1, 2), P1: (3, 1, 2), TopicPartition("t", 2): (1,)}
    moves = {P1: ReplicaAssignment((3, 1, 2), (3,), (2,))}
    assert [line.sentence for line in partition_lines(targets, current, moves)] == [
        "Reassignment of partition t-0 is completed.",
        "Reassignment of partition t-1 is still in progress.",
        "There is no active reassignment of partition t-2, but replica set is 1 rather than 2.",
    ]
    assert [line.sentence for line in partition_lines(targets, current, moves, as_before=True)] == [
        "Reassignment of partition t-0 completed successfully",
        "Reassignment of partition t-1 is still in progress.",
        "Reassignment of partition [t,2] failed",
    ]
    assert listed(moves)[1:] == ["t-1: replicas: 3,1,2. adding: 3. removing: 2."]


def test_each_replica_lies_in_its_directory_is_copied_there_or_is_not():
    locations = {
        (P0, 1): ReplicaLocation("/a"),
        (P0, 2): ReplicaLocation("/b", "/a"),
        (P0, 3): ReplicaLocation("/b", "/c"),
        (P0, 4): ReplicaLocation("/b"),
    }
    wanted = {(P0, at): "/a" for at in (1, 2, 3, 4, 5)}
    lines = log_dir_lines(wanted, locations)
    assert [line.sentence for line in lines] == [
        "Reassignment of replica t-0-1 completed successfully.",
        "Reassignment of replica t-0-2 is still in progress.",
        "Partition t-0 on broker 3 is being moved to log dir /c instead of /a.",
        "Partition t-0 on broker 4 is not being moved from log dir /b to /a.",
        "Partition t-0 is not found in any live log dir on broker 5. There is likely an offline log directory on the "
        "broker.",
    ]
    assert [line.is_active for line in lines] == [False, True, True, False, False]
