"""Row 5 of the fault matrix: a controller that stood still wakes up when another has long taken over."""

import json
import signal

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.barnabas_cluster import await_true
from tests.interop.replicas import isr_of, leader_of

ALL = {1, 2, 3}


@pytest.fixture
def cluster(three_brokers):
    return three_brokers


@pytest.fixture
def znodes(cluster):
    observer = KazooClient(cluster.zookeeper.connect)
    observer.start()
    yield observer
    observer.stop()
    observer.close()


def controller(znodes) -> tuple[int, int]:
    """Who is controller, and under which epoch; -1 while there is none."""
    epoch = int(znodes.get("/controller_epoch")[0])
    try:
        return json.loads(znodes.get("/controller")[0])["brokerid"], epoch
    except NoNodeError:
        return -1, epoch


def create(cluster, topic: str, brokers) -> None:
    admin = AdminClient({"bootstrap.servers": ",".join(f"127.0.0.1:{broker.port}" for broker in brokers)})
    admin.create_topics([NewTopic(topic, 3, 3 if len(brokers) == 3 else 2)])[topic].result(20)


def test_controller_that_wakes_up_too_late_decides_nothing_any_more(cluster, znodes):
    create(cluster, "before", cluster.brokers)
    zombie_id, epoch = controller(znodes)
    zombie = cluster.broker(zombie_id)
    others = [broker for broker in cluster.brokers if broker is not zombie]
    zombie.process.send_signal(signal.SIGSTOP)
    try:
        await_true(lambda: controller(znodes)[0] in ALL - {zombie_id}, "another controller")
        successor_id, next_epoch = controller(znodes)
        assert next_epoch == epoch + 1
        await_true(lambda: all(controller_by(broker) == successor_id for broker in others), "clients are sent to it")
        create(cluster, "meanwhile", others)
    finally:
        zombie.process.send_signal(signal.SIGCONT)
    await_true(lambda: f"event=registered broker_epoch={registered(znodes, zombie_id)}" in log_of(zombie), "it is back")
    await_true(lambda: all(known_to(broker) == ALL for broker in cluster.brokers), "everybody knows it is back")
    assert controller(znodes) == (successor_id, next_epoch)
    create(cluster, "after", cluster.brokers)
    await_true(lambda: isr_of(cluster, "before") == ALL, "in sync with it again")
    for topic, partition, state in states(znodes):
        assert state["controller_epoch"] <= next_epoch
        await_true(lambda: leader_of(cluster, topic, partition) == state["leader"], "clients are told so")  # noqa: B023
    assert log_of(zombie).count('event="acting as controller"') == 1


def controller_by(broker) -> int:
    """As the broker tells its clients."""
    return AdminClient({"bootstrap.servers": f"127.0.0.1:{broker.port}"}).list_topics(timeout=20).controller_id


def registered(znodes, broker_id: int) -> int:
    znode = znodes.exists(f"/brokers/ids/{broker_id}")
    return znode.czxid if znode else 0


def known_to(broker) -> set[int]:
    return set(AdminClient({"bootstrap.servers": f"127.0.0.1:{broker.port}"}).list_topics(timeout=20).brokers)


def log_of(broker) -> str:
    return broker.log_path.read_text()


def states(znodes):
    for topic in znodes.get_children("/brokers/topics"):
        for partition in znodes.get_children(f"/brokers/topics/{topic}/partitions"):
            path = f"/brokers/topics/{topic}/partitions/{partition}/state"
            yield topic, int(partition), json.loads(znodes.get(path)[0])
