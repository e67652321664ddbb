"""One broker whose `server.properties` says nothing but where it is serves groups and transactions all the same."""

from confluent_kafka import Consumer, Producer

from tests.barnabas_cluster import BrokerProcess, free_ports


def test_a_broker_alone_serves_groups_and_transactions_and_says_what_they_are_worth(tmp_path, zookeeper):
    port, metrics_port = free_ports(2)
    broker = BrokerProcess(0, port, metrics_port, tmp_path / "broker", f"{zookeeper.connect}/lone")
    broker.start()
    try:
        broker.await_healthy()
        _copy(f"127.0.0.1:{port}")
        assert "internal topic is made with one replica" in broker.log_path.read_text()
        assert "internal_topics_short_of_replicas 2.0" in broker.get("/metrics")
    finally:
        broker.stop()


def _copy(bootstrap_servers: str) -> None:
    servers = {"bootstrap.servers": bootstrap_servers}
    producer = Producer({**servers, "transactional.id": "t"})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce("t", b"x")
    producer.commit_transaction(60)
    consumer = Consumer({**servers, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["t"])
    message = consumer.poll(60)
    assert message is not None
    assert (message.error(), message.value()) == (None, b"x")
    consumer.commit(message, asynchronous=False)
    consumer.close()
