"""The settings in the properties files that Kafka ships, of 2.8 to 4.4: names and values, without the comments."""

_NETWORK = {
    "num.network.threads": "3",
    "num.io.threads": "8",
    "socket.send.buffer.bytes": "102400",
    "socket.receive.buffer.bytes": "102400",
    "socket.request.max.bytes": "104857600",
}
_LOGS = {
    "num.partitions": "1",
    "num.recovery.threads.per.data.dir": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "log.retention.hours": "168",
    "log.retention.check.interval.ms": "300000",
}
_PROTOCOLS = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL"
_SEGMENTS = {"log.segment.bytes": "1073741824"}
_ZOOKEEPER = {
    "broker.id": "0",
    "log.dirs": "/tmp/kafka-logs",
    "zookeeper.connect": "localhost:2181",
    "zookeeper.connection.timeout.ms": "18000",
    "group.initial.rebalance.delay.ms": "0",
}
_SHARE = {
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
_VOTERS = {"controller.quorum.voters": "1@localhost:9093"}
_COMBINED = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "inter.broker.listener.name": "PLAINTEXT",
    "advertised.listeners": "PLAINTEXT://localhost:9092",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": _PROTOCOLS,
    "log.dirs": "/tmp/kraft-combined-logs",
    **_NETWORK,
    **_LOGS,
    **_SEGMENTS,
}
_OF_4 = {
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "advertised.listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
}

#: Of a broker with ZooKeeper.
ZOOKEEPER_SERVERS = {
    "2.8 to 3.0": _ZOOKEEPER | _NETWORK | _LOGS | _SEGMENTS,
    "3.1 to 3.9": _ZOOKEEPER | _NETWORK | _LOGS,
    "a container of 3.x": {
        **_ZOOKEEPER,
        "advertised.listeners": "PLAINTEXT://kafka:29092,PLAINTEXT_HOST://localhost:9092",
        "listeners": "PLAINTEXT://0.0.0.0:29092,PLAINTEXT_HOST://0.0.0.0:9092",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,PLAINTEXT_HOST:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "auto.create.topics.enable": "true",
        "confluent.support.metrics.enable": "false",
    },
}
#: Of a broker without it, which needs a `zookeeper.connect` here.
KRAFT_SERVERS = {
    "2.8 to 3.9, combined": _COMBINED | _VOTERS,
    "3.9, combined, dynamic quorum": _COMBINED | _OF_4,
    "4.0 to 4.4, combined": _COMBINED | _OF_4 | _SHARE,
    "2.8 to 3.9, broker": {
        **_COMBINED,
        **_VOTERS,
        "process.roles": "broker",
        "node.id": "2",
        "listeners": "PLAINTEXT://localhost:9092",
        "log.dirs": "/tmp/kraft-broker-logs",
    },
    "4.0 to 4.4, broker": {
        **_COMBINED,
        **_SHARE,
        "process.roles": "broker",
        "node.id": "2",
        "controller.quorum.bootstrap.servers": "localhost:9093",
        "listeners": "PLAINTEXT://localhost:9092",
        "log.dirs": "/tmp/kraft-broker-logs",
    },
}
#: Of a controller alone, which there is none of here.
CONTROLLERS = {
    "2.8 to 3.9": {
        **_VOTERS,
        **_NETWORK,
        "process.roles": "controller",
        "node.id": "1",
        "listeners": "CONTROLLER://:9093",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": "/tmp/kraft-controller-logs",
    },
    "4.0 to 4.4": {
        **_NETWORK,
        **_SHARE,
        "process.roles": "controller",
        "node.id": "1",
        "controller.quorum.bootstrap.servers": "localhost:9093",
        "listeners": "CONTROLLER://localhost:9093",
        "advertised.listeners": "CONTROLLER://localhost:9093",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": "/tmp/kraft-controller-logs",
    },
}

_WORKER = {
    "bootstrap.servers": "localhost:9092",
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "key.converter.schemas.enable": "true",
    "value.converter.schemas.enable": "true",
    "offset.flush.interval.ms": "10000",
}
_INTERNAL = {
    f"internal.{part}.converter{name}": value
    for part in ("key", "value")
    for name, value in (("", "org.apache.kafka.connect.json.JsonConverter"), (".schemas.enable", "false"))
}
DISTRIBUTED_WORKERS = {
    "2.8 to 4.4": {
        **_WORKER,
        "group.id": "connect-cluster",
        "offset.storage.topic": "connect-offsets",
        "offset.storage.replication.factor": "1",
        "config.storage.topic": "connect-configs",
        "config.storage.replication.factor": "1",
        "status.storage.topic": "connect-status",
        "status.storage.replication.factor": "1",
    }
}
DISTRIBUTED_WORKERS["a container of 3.x"] = {
    **DISTRIBUTED_WORKERS["2.8 to 4.4"],
    **_INTERNAL,
    "rest.advertised.host.name": "connect",
    "rest.port": "8083",
    "listeners": "http://0.0.0.0:8083",
    "plugin.path": "/usr/share/java,/usr/share/confluent-hub-components",
}
STANDALONE_WORKERS = {
    "2.8 to 4.4": _WORKER | {"offset.storage.file.filename": "/tmp/connect.offsets"},
    "before 2.0": _WORKER | _INTERNAL | {"offset.storage.file.filename": "/tmp/connect.offsets"},
}
MIRRORS = {
    "2.8 to 4.4": {
        "clusters": "A, B",
        "A.bootstrap.servers": "A_host1:9092, A_host2:9092, A_host3:9092",
        "B.bootstrap.servers": "B_host1:9092, B_host2:9092, B_host3:9092",
        "A->B.enabled": "true",
        "A->B.topics": ".*",
        "B->A.enabled": "true",
        "B->A.topics": ".*",
        "replication.factor": "1",
        "checkpoints.topic.replication.factor": "1",
        "heartbeats.topic.replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "offset.storage.replication.factor": "1",
        "status.storage.replication.factor": "1",
        "config.storage.replication.factor": "1",
    }
}

_DESERIALIZER = "org.apache.kafka.common.serialization.StringDeserializer"
CONSUMERS = {
    "2.8 to 4.1": {"bootstrap.servers": "localhost:9092", "group.id": "test-consumer-group"},
    "4.2 to 4.4": {
        "bootstrap.servers": "localhost:9092",
        "client.id": "test-consumer",
        "isolation.level": "read_uncommitted",
        "group.id": "test-consumer-group",
        "auto.offset.reset": "earliest",
        "partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
        "key.deserializer": _DESERIALIZER,
        "value.deserializer": _DESERIALIZER,
        "enable.auto.commit": "true",
        "auto.commit.interval.ms": "5000",
        "session.timeout.ms": "30000",
        "heartbeat.interval.ms": "10000",
        "max.poll.interval.ms": "300000",
        "retry.backoff.ms": "100",
        "retry.backoff.max.ms": "1000",
        "request.timeout.ms": "40000",
        "connections.max.idle.ms": "540000",
        "fetch.min.bytes": "1",
        "fetch.max.wait.ms": "500",
        "fetch.max.bytes": "52428800",
        "max.partition.fetch.bytes": "1048576",
        "max.poll.records": "500",
    },
}
_SERIALIZER = "org.apache.kafka.common.serialization.StringSerializer"
PRODUCERS = {
    "2.8 to 4.1": {"bootstrap.servers": "localhost:9092", "compression.type": "none"},
    "4.2 to 4.4": {
        "bootstrap.servers": "localhost:9092",
        "client.id": "test-producer",
        "key.serializer": _SERIALIZER,
        "value.serializer": _SERIALIZER,
        "acks": "all",
        "enable.idempotence": "true",
        "max.in.flight.requests.per.connection": "5",
        "retries": "2147483647",
        "request.timeout.ms": "30000",
        "delivery.timeout.ms": "120000",
        "retry.backoff.ms": "100",
        "retry.backoff.max.ms": "1000",
        "connections.max.idle.ms": "540000",
        "linger.ms": "5",
        "batch.size": "16384",
        "buffer.memory": "33554432",
        "max.request.size": "1048576",
        "compression.type": "none",
    },
}
