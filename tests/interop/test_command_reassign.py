"""`kafka-reassign-partitions` on topics that another client made and filled."""

import json

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true
from tests.typed import typed


@pytest.fixture
def reassign(cluster):
    return lambda *words: typed("kafka-reassign-partitions", "--bootstrap-server", cluster.bootstrap_servers, *words)


@pytest.fixture
def topic(cluster, name):
    """Two partitions of two replicas with 300 kB in each."""
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    client.create_topics([NewTopic(name, num_partitions=2, replica_assignment=[[1, 2], [2, 1]])])[name].result(30)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all", "batch.size": 20_000})
    for number in range(60):
        producer.produce(name, b"x" * 10_000, partition=number % 2)
    assert producer.flush(30) == 0
    return name


@pytest.fixture
def plan(tmp_path):
    def write(topic: str, *replicas: list[int]) -> str:
        path = tmp_path / "plan.json"
        partitions = [{"topic": topic, "partition": at, "replicas": replica} for at, replica in enumerate(replicas)]
        path.write_text(json.dumps({"version": 1, "partitions": partitions}))
        return str(path)

    return write


def throttles(cluster, topic: str) -> str:
    described = typed("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, "--describe", "--topic", topic)
    configs = described.out.splitlines()[0].split("Configs: ")[1]
    return configs.removesuffix("min.insync.replicas=1").removesuffix(",")


def test_what_is_generated_is_what_execute_takes_and_the_former_plan_is_what_rollback_takes(reassign, topic, tmp_path):
    wanted = tmp_path / "topics.json"
    wanted.write_text(json.dumps({"topics": [{"topic": topic}], "version": 1}))
    generated = reassign("--generate", "--topics-to-move-json-file", str(wanted), "--broker-list", "2,3")
    head, current, empty, head_of_proposed, proposed = generated.out.splitlines()
    assert (head, empty) == ("Current partition replica assignment", "")
    assert head_of_proposed == "Proposed partition reassignment configuration"
    assert current == (
        f'{{"version":1,"partitions":[{{"topic":"{topic}","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}},'
        f'{{"topic":"{topic}","partition":1,"replicas":[2,1],"log_dirs":["any","any"]}}]}}'
    )
    assert [sorted(partition["replicas"]) for partition in json.loads(proposed)["partitions"]] == [[2, 3], [2, 3]]
    plan = tmp_path / "plan.json"
    plan.write_text(proposed)
    executed = reassign("--execute", "--reassignment-json-file", str(plan))
    assert executed.out.splitlines() == [
        "Current partition replica assignment",
        "",
        current,
        "",
        "Save this to use as the --reassignment-json-file option during rollback",
        f"Successfully started partition reassignments for {topic}-0,{topic}-1",
    ]
    verify = ("--verify", "--reassignment-json-file", str(plan), "--preserve-throttles")
    await_true(lambda: reassign(*verify).out.count("is completed.") == 2, "the replicas have moved")


def test_a_throttled_move_is_listed_goes_on_faster_when_told_and_its_throttle_goes_at_the_end(
    cluster, reassign, topic, plan
):
    target = plan(topic, [3, 2])
    begun = reassign("--execute", "--reassignment-json-file", target, "--throttle", "1000")
    assert begun.out.splitlines()[-3:] == [
        "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is "
        "removed.",
        "The inter-broker throttle limit was set to 1000 B/s",
        f"Successfully started partition reassignment for {topic}-0",
    ]
    # In sync the replicas that stay are not throttled; which entries there are is Kafka's.
    await_true(lambda: "leader.replication.throttled.replicas=0:1,0:2" in throttles(cluster, topic), "it is throttled")
    assert reassign("--list").out == (
        f"Current partition reassignments:\n{topic}-0: replicas: 3,2,1. adding: 3. removing: 1.\n"
    )
    status = reassign("--verify", "--reassignment-json-file", target)
    moving = f"Status of partition reassignment:\nReassignment of partition {topic}-0 is still in progress.\n"
    assert status == (0, moving, "")
    again = reassign("--execute", "--reassignment-json-file", target)
    assert (again.status, again.err) == (1, "")
    assert again.out.startswith("Error: Cannot execute because there is an existing partition assignment.")
    assert reassign(
        "--execute", "--additional", "--reassignment-json-file", target, "--throttle", "100000000"
    ).out.endswith(f"Successfully started partition reassignment for {topic}-0\n")
    await_true(lambda: reassign("--list").out == "No partition reassignments found.\n", "the move is over")
    # The controller is done before every broker has heard so, and whichever broker is asked tells the replicas.
    done = (
        f"Status of partition reassignment:\nReassignment of partition {topic}-0 is completed.\n\n"
        f"Clearing broker-level throttles on brokers 1,2,3\nClearing topic-level throttles on topic {topic}\n"
    )
    await_true(lambda: reassign("--verify", "--reassignment-json-file", target).out == done, "every broker tells so")
    await_true(lambda: throttles(cluster, topic) == "", "the throttle is gone")


def test_a_move_is_called_off_and_what_did_not_happen_is_told(reassign, topic, plan):
    target = plan(topic, [3, 2])
    reassign("--execute", "--reassignment-json-file", target, "--throttle", "1000")
    cancelled = reassign("--cancel", "--reassignment-json-file", target, "--preserve-throttles")
    assert cancelled.out == (
        f"Successfully cancelled partition reassignment for: {topic}-0\n"
        "None of the specified partition moves are active.\n"
    )
    nothing = reassign("--cancel", "--reassignment-json-file", target, "--output", "json")
    assert json.loads(nothing.out) == {"cancelled": [], "log_dirs": []}
    left = f"There is no active reassignment of partition {topic}-0, but replica set is 2,1 rather than 3,2.\n"
    verify = ("--verify", "--reassignment-json-file", target)
    await_true(lambda: left in reassign(*verify).out, "the replicas are where they were")


def test_the_zookeeper_generation_is_told_in_its_own_words(cluster, topic, plan):
    zookeeper = ("--zookeeper", cluster.brokers[0].zookeeper_connect)
    target = plan(topic, [2, 1])
    begun = typed("kafka-reassign-partitions", *zookeeper, "--reassignment-json-file", target, "--execute")
    assert begun.out.endswith("Successfully started reassignment of partitions.\n")
    done = typed("kafka-reassign-partitions", *zookeeper, "--reassignment-json-file", target, "--verify")
    assert done.out == (
        "Status of partition reassignment:\n"
        f"Reassignment of partition {topic}-0 completed successfully\nThrottle was removed.\n"
    )


def test_what_cannot_be_done_is_a_sentence_on_stdout_before_anything_moves(reassign, topic, plan, tmp_path):
    def refused(target: str) -> str:
        done = reassign("--execute", "--reassignment-json-file", target)
        assert (done.status, done.err) == (1, "")
        return done.out

    assert refused(plan(topic, [9, 1])) == "Error: Unknown broker id 9\n"
    assert refused("/nowhere") == "Error: /nowhere cannot be read: No such file or directory.\n"
    assert refused(plan(f"{topic}-x", [1])) == f"Error: Topic {topic}-x not found.\n"
    elsewhere = tmp_path / "elsewhere.json"
    partition = {"topic": topic, "partition": 0, "replicas": [1, 3], "log_dirs": ["/elsewhere", "any"]}
    elsewhere.write_text(json.dumps({"version": 1, "partitions": [partition]}))
    assert refused(str(elsewhere)) == "Error: The broker has no such log directory.\n"
    assert reassign("--list").out == "No partition reassignments found.\n"
