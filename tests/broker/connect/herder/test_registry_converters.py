"""Converters on a real registry: others' deserializers read what they write, and the other way; and in a worker."""

import uuid
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pool, message_factory

from broker.connect.api import DataError, Field, RetriableError, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.converters.registry.avro.converter import AvroConverter
from broker.connect.converters.registry.json_schema.converter import JsonSchemaConverter
from broker.connect.converters.registry.protobuf.converter import ProtobufConverter
from broker.registry.protobuf.schema import parse
from tests.barnabas_cluster import await_true
from tests.broker.connect.workers import start_worker
from tests.registry_process import running_registries

LINE = Schema(Type.STRUCT, name="shop.Line", fields=(Field("sku", types.STRING), Field("count", Schema(Type.INT16))))
ORDER = Schema(
    Type.STRUCT,
    name="shop.Order",
    fields=(
        Field("id", Schema(Type.INT64)),
        Field("note", types.OPTIONAL_STRING),
        Field("at", types.timestamp_schema()),
        Field("due", types.date_schema(optional=True)),
        Field("total", types.decimal_schema(2)),
        Field("lines", Schema(Type.ARRAY, value_schema=LINE)),
        Field("tags", Schema(Type.MAP, key_schema=types.STRING, value_schema=Schema(Type.FLOAT64))),
        Field("paid", Schema(Type.BOOLEAN, default=True)),
    ),
)
AT = datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)


def order():
    return Struct(
        ORDER,
        {
            "id": 2**40, "note": None, "at": AT, "due": date(2020, 3, 1), "total": Decimal("12.34"),
            "lines": [Struct(LINE, {"sku": "ä", "count": -2})], "tags": {"x": 1.5}, "paid": False,
        },
    )  # fmt: skip


@pytest.fixture(scope="module")
def registry(cluster, tmp_path_factory):
    directory = tmp_path_factory.mktemp("registry")
    topic = f"_schemas-{uuid.uuid4().hex[:8]}"
    with running_registries(directory, cluster.bootstrap_servers, kafkastore_topic=topic) as [running]:
        yield running


@pytest.fixture
def client(registry):
    return SchemaRegistryClient({"url": registry.url})


@pytest.fixture
def topic():
    return f"t-{uuid.uuid4().hex[:12]}"


def converter(cls, registry, **props):
    made = cls()
    properties = {key.replace("_", "."): value for key, value in props.items()}
    made.configure({"schema.registry.url": f"http://127.0.0.1:1,{registry.url}", **properties}, False)
    return made


def value_of(topic):
    return SerializationContext(topic, MessageField.VALUE)


def test_avro_goes_to_others_and_comes_from_them(registry, client, topic):
    made = converter(AvroConverter, registry)
    written = made.from_connect(topic, (), ORDER, order())
    read = AvroDeserializer(client)(written, value_of(topic))
    assert read == {
        "id": 2**40, "note": None, "at": AT, "due": date(2020, 3, 1), "total": Decimal("12.34"),
        "lines": [{"sku": "ä", "count": -2}], "tags": {"x": 1.5}, "paid": False,
    }  # fmt: skip
    text = client.get_latest_version(f"{topic}-value").schema.schema_str
    theirs = AvroSerializer(client, text, conf={"auto.register.schemas": False})(read, value_of(topic))
    assert theirs == written
    assert made.to_connect(topic, (), theirs) == (ORDER, order())


def test_json_goes_to_others_and_comes_from_them(registry, client, topic):
    made = converter(JsonSchemaConverter, registry)
    written = made.from_connect(topic, (), ORDER, order())
    text = client.get_latest_version(f"{topic}-value").schema.schema_str
    read = JSONDeserializer(None, schema_registry_client=client)(written, value_of(topic))
    assert (read["note"], read["lines"], read["paid"]) == (None, [{"sku": "ä", "count": -2}], False)
    theirs = JSONSerializer(text, client, conf={"auto.register.schemas": False})(read, value_of(topic))
    assert made.to_connect(topic, (), theirs) == (ORDER, order())


def message_class(client, subject):
    """Of the subject's latest schema, as protoc makes one."""
    files = parse(client.get_latest_version(subject).schema.schema_str, (), is_new=False).files
    pool = descriptor_pool.DescriptorPool()
    for file in files:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))


def test_protobuf_goes_to_others_and_comes_from_them(registry, client, topic):
    made = converter(ProtobufConverter, registry, optional_for_nullables="true")
    written = made.from_connect(topic, (), ORDER, order())
    order_class = message_class(client, f"{topic}-value")
    read = ProtobufDeserializer(order_class, {"use.deprecated.format": False}, client)(written, value_of(topic))
    assert (read.id, read.HasField("note"), read.lines[0].sku, read.lines[0].count) == (2**40, False, "ä", -2)
    assert (read.at.seconds, read.due.month, read.total.value, dict(read.tags)) == (
        int(AT.timestamp()), 3, b"\x04\xd2", {"x": 1.5},
    )  # fmt: skip
    conf = {"auto.register.schemas": False, "use.latest.version": True, "use.deprecated.format": False}
    # The other one keeps the schema's text, where its serializer wants a descriptor.
    other = SchemaRegistryClient({"url": registry.url})
    theirs = ProtobufSerializer(order_class, other, conf)(read, value_of(topic))
    _, back = made.to_connect(topic, (), theirs)
    assert {name: back[name] for name in ("id", "note", "at", "due", "total", "tags", "paid")} == {
        name: order()[name] for name in ("id", "note", "at", "due", "total", "tags", "paid")
    }
    assert [dict(line) for line in back["lines"]] == [{"sku": "ä", "count": -2}]


def test_a_schema_the_registry_refuses_is_the_records_fault(registry, topic):
    made = converter(AvroConverter, registry)
    made.from_connect(topic, (), types.STRING, "x")
    with pytest.raises(DataError, match="incompatible"):
        made.from_connect(topic, (), Schema(Type.INT32), 1)
    with pytest.raises(DataError, match="40403"):
        made.to_connect(topic, (), b"\0\x7f\xff\xff\xff1")


def test_a_registry_that_is_nowhere_is_asked_again_and_then_for_later():
    made = AvroConverter()
    props = {"schema.registry.url": "http://127.0.0.1:1", "max.retries": "2", "retries.wait.ms": "1"}
    made.configure({**props, "basic.auth.user.info": "me:sesame"}, False)
    with pytest.raises(RetriableError) as raised:
        made.from_connect("t", (), types.STRING, "x")
    assert "sesame" not in str(raised.value)


CONVERTERS = {
    "AVRO": "io.confluent.connect.avro.AvroConverter",
    "JSON": "JsonSchemaConverter",
    "PROTOBUF": "ProtobufConverter",
}
#: A line is a text, and what goes through the topic is a struct.
INTO_STRUCT = {"transforms": "in", "transforms.in.type": "HoistField$Value", "transforms.in.field": "line"}
OUT_OF_STRUCT = {"transforms": "out", "transforms.out.type": "ExtractField$Value", "transforms.out.field": "line"}


@pytest.fixture
def worker(cluster, registry, tmp_path):
    started = start_worker(
        tmp_path / "worker",
        "standalone",
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "offset.storage.file.filename": str(tmp_path / "offsets"),
            "config.providers": "dir",
            "config.providers.dir.class": "org.apache.kafka.common.config.provider.DirectoryConfigProvider",
        },
    )
    try:
        await_true(started.answers, "REST answers")
        yield started
    finally:
        assert started.stop() == 0
        assert "Traceback" not in started.log.read_text()


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.long if kind != "AVRO" else ()) for kind in CONVERTERS]
)
def test_a_sink_reads_what_a_source_wrote_and_a_poison_record_is_a_dead_letter(
    kind, cluster, registry, client, worker, tmp_path, topic
):
    from confluent_kafka import Consumer, Producer

    own = {
        "key.converter": "StringConverter",
        "value.converter": CONVERTERS[kind],
        "value.converter.schema.registry.url": registry.url,
    }
    (tmp_path / "in.txt").write_text("foo\nbär\n")
    source = {
        "connector.class": "FileStreamSource",
        "file": str(tmp_path / "in.txt"),
        "topic": topic,
        **own,
        **INTO_STRUCT,
    }
    worker.ask("PUT", "/connectors/in/config", source, status=201)
    out = tmp_path / "out.txt"
    dead = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"dead-{topic}",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    sink = {"connector.class": "FileStreamSink", "file": str(out), "topics": topic, **own, **dead, **OUT_OF_STRUCT}
    worker.ask("PUT", "/connectors/out/config", sink, status=201)
    await_true(lambda: out.exists() and out.read_text() == "foo\nbär\n", "both lines")
    assert client.get_latest_version(f"{topic}-value").schema.schema_type == kind
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce(topic, b"poison")
    producer.flush(30)
    consumer = Consumer(
        {"bootstrap.servers": cluster.bootstrap_servers, "group.id": f"g-{topic}", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([f"dead-{topic}"])
    results = []
    await_true(lambda: results or results.extend(m for m in consumer.consume(1, 0.5) if not m.error()), "a dead letter")
    consumer.close()
    headers = dict(results[0].headers())
    assert (results[0].value(), headers["__connect.errors.stage"]) == (b"poison", b"VALUE_CONVERTER")
    assert headers["__connect.errors.offset"] == b"2"


def test_a_registry_that_is_away_costs_no_line_whatever_is_tolerated(registry, worker, tmp_path, topic):
    own = {
        "value.converter": "AvroConverter",
        "value.converter.schema.registry.url": registry.url,
        "value.converter.max.retries": "0",
        "errors.tolerance": "all",
    }
    (tmp_path / "in.txt").write_text("foo\nbar\n")
    source = {"connector.class": "FileStreamSource", "file": str(tmp_path / "in.txt"), **own}
    registry.kill()
    try:
        patient = {**source, "topic": f"{topic}-a", "errors.retry.timeout": "-1"}
        worker.ask("PUT", "/connectors/patient/config", patient, status=201)
        worker.ask("PUT", "/connectors/hasty/config", {**source, "topic": f"{topic}-b"}, status=201)

        def reason() -> str:
            return worker.ask("GET", "/connectors/hasty/tasks/0/status").get("trace", "")

        await_true(lambda: "is not possible for now" in reason(), "the hasty one says why it begins again")
        assert worker.task_state("hasty") == "RUNNING"
    finally:
        registry.start()
        registry.await_serving()
    for at in ("a", "b"):
        out = tmp_path / f"out-{at}.txt"
        sink = {"connector.class": "FileStreamSink", "file": str(out), "topics": f"{topic}-{at}", **own}
        worker.ask("PUT", f"/connectors/out-{at}/config", sink, status=201)
        await_true(lambda out=out: out.exists() and out.read_text() == "foo\nbar\n", "both lines", 90)
    assert worker.is_running("patient")
    assert worker.is_running("hasty")


def test_what_is_wrong_with_a_converter_is_told_before_it_starts_and_a_secret_never(worker, registry, tmp_path):
    (tmp_path / "login").write_text("me:sesame")
    secret_config = {
        "name": "secret",
        "connector.class": "FileStreamSource",
        "file": "x",
        "topic": "t",
        "value.converter": "AvroConverter",
        "value.converter.schema.registry.url": "http://me:sesame@127.0.0.1:1",
        "value.converter.value.subject.name.strategy": "Odd",
        "value.converter.basic.auth.user.info": "me:sesame",
    }
    path = "/connector-plugins/FileStreamSource/config/validate"
    body = worker.ask("PUT", path, secret_config, status=200)
    wrong = {
        config["value"]["name"].removeprefix("value.converter.")
        for config in body["configs"]
        if config["value"]["errors"]
    }
    assert wrong == {"schema.registry.url", "value.subject.name.strategy", "basic.auth.user.info"}
    assert "sesame" not in str(body)
    assert "sesame" not in str(
        worker.ask("POST", "/connectors", {"name": "secret", "config": secret_config}, status=400)
    )
    good = secret_config | {
        "value.converter.schema.registry.url": registry.url,
        "value.converter.value.subject.name.strategy": "RecordNameStrategy",
        "value.converter.basic.auth.user.info": f"${{dir:{tmp_path}:login}}",
    }
    body = worker.ask("PUT", path, good, status=200)
    assert body["error_count"] == 0
    assert "sesame" not in str(body) + worker.log.read_text()
