"""Records that confluent-kafka's serializers wrote, decoded on the pages; and produced by schema for them to read."""

import json
import struct

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from django.urls import reverse

from console.cluster.records.matching import matcher
from console.cluster.schemas import json_check
from console.cluster.schemas.codec import LONG_LOOKUPS_PER_PAGE, LOOKUPS_PER_PAGE, KeptSchemas, PageDecoder
from console.cluster.schemas.errors import NotEncodedError
from console.cluster.schemas.registry import RegisteredText
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.records.interface import RecordView
from tests.console.cluster.schemas.conftest import ORDER, ORDER_WITH_NOTE
from tests.interop.test_schema_registry import JSON_ORDER, message_class

pytestmark = pytest.mark.timeout(240)


def value_of(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


@pytest.fixture
def confluent(registry, registry_process) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": registry_process.url})


@pytest.fixture
def page(registry, cluster, collect, operator, client_of, topic):
    """page(value): what the topic's messages page says of a record with it."""
    cluster.create_topic(topic, 1, 1)
    collect()

    def shown(value: bytes, **query: str):
        cluster.produce_record(topic, 0, None, value)
        return client_of(operator).get(reverse("topic-records", args=[topic]), query)

    return shown


@pytest.fixture
def produce(registry, cluster, collect, operator, client_of, topic):
    """produce(text): the answer, and the bytes that were written by the value's schema."""
    cluster.create_topic(topic, 1, 1)
    collect()

    def posted(text: str, **fields: str):
        form = {"value": text, "written_as": "schema", "partition": 0, **fields}
        answer = client_of(operator).post(reverse("topic-produce", args=[topic]), form)
        spans = cluster.record_spans(topic, True)
        stream = cluster.open_records(topic, {0: 0}, True)
        records = stream.read(1.0, 10) if spans[0].next else []
        return answer, records[-1].value if records else None

    return posted


def test_avro_is_decoded_with_its_id_and_a_link(page, confluent, topic):
    data = AvroSerializer(confluent, ORDER)({"id": 7}, value_of(topic))
    shown = page(data)
    value = shown.context["records"][0].value
    schema_id = int.from_bytes(data[1:5])
    assert (json.loads(value.text), value.schema_id) == ({"id": 7}, schema_id)
    assert f'href="{reverse("schema-id", args=[schema_id])}"' in shown.content.decode()
    assert "Avro, schema" in value.note


def test_protobuf_with_nested_messages_and_imports_is_decoded(page, confluent, topic):
    shared = message_class(f"a{topic[2:]}", "Shared", label="string")
    outer = message_class(
        f"b{topic[2:]}", "Outer", (shared.DESCRIPTOR.file,), shared=shared.DESCRIPTOR.full_name, n="int32"
    )
    message = outer(n=3)
    message.shared.label = "x"
    data = ProtobufSerializer(outer, confluent, {"use.deprecated.format": False})(message, value_of(topic))
    value = page(data).context["records"][0].value
    assert json.loads(value.text) == {"shared": {"label": "x"}, "n": 3}, value.note


def test_json_is_shown_without_its_frame(page, confluent, topic):
    data = JSONSerializer(JSON_ORDER, confluent)({"id": 7}, value_of(topic))
    value = page(data).context["records"][0].value
    assert json.loads(value.text) == {"id": 7}
    assert value.note.startswith("Json, schema")


def test_the_record_s_own_page_and_a_file_have_it_decoded(page, confluent, topic, operator, client_of):
    data = AvroSerializer(confluent, ORDER_WITH_NOTE)({"id": 7, "note": "so"}, value_of(topic))
    file = b"".join(page(data, format="csv").streaming_content).decode()
    assert '""note"": ""so""' in file
    record = client_of(operator).get(reverse("topic-record", args=[topic, 0, 0]))
    assert json.loads(record.context["shown"].value.text) == {"id": 7, "note": "so"}


def test_what_cannot_be_decoded_shows_its_bytes_and_why(page, registry, topic):
    schema_id = registry.register(f"{topic}-value", RegisteredText(ORDER_WITH_NOTE))
    value = page(b"\0" + struct.pack(">i", schema_id) + b"\x0e\x7e").context["records"][0].value
    assert value.kind == "hex"
    assert "field note: at byte 2 63 bytes are said to follow, and 0 do" in value.note
    unknown = page(b"\0\0\x0f\xff\xff\x0e").context["records"][0].value
    assert (unknown.kind, "the registry says" in unknown.note) == ("hex", True)


def test_raw_text_and_hex_are_of_the_bytes(page, confluent, topic):
    data = AvroSerializer(confluent, ORDER)({"id": 7}, value_of(topic))
    assert page(data, shown="hex").context["records"][0].value.note == ""


def test_without_a_registry_records_are_shown_as_before(page, settings):
    settings.SCHEMA_REGISTRY = None
    value = page(b'\0\0\0\0\1{"a": 1}').context["records"][0].value
    assert "Confluent wire format, schema id 1" in value.note


@pytest.mark.parametrize("schema", ['["null","int"]', '"string"'])
def test_a_framed_record_of_eight_bytes_is_decoded_where_the_registry_has_its_schema(page, registry, topic, schema):
    schema_id = registry.register(f"{topic}-value", RegisteredText(schema))
    data = b"\0" + struct.pack(">i", schema_id) + (b"\x04ab" if "string" in schema else b"\x02\x9a\x02")
    assert len(data) == 8
    value = page(data).context["records"][0].value
    assert (value.text, value.schema_id) == ('"ab"' if "string" in schema else "141", schema_id)


def test_a_long_of_java_stays_eight_bytes(page, registry, topic):
    """Of 1 << 40 the registry has no schema; of the last one the bytes do not fit."""
    schema_id = registry.register(f"{topic}-value", RegisteredText(ORDER_WITH_NOTE))
    for number in (5, 1 << 40, (schema_id << 24) + 0x027F7F):
        value = page(struct.pack(">q", number)).context["records"][0].value
        assert (value.kind, value.note) == ("hex", ""), number


def test_longs_of_java_take_no_lookup_from_records_with_a_schema(settings):
    settings.SCHEMA_REGISTRY = object()
    looked_up = []

    class Refusing(KeptSchemas):
        def ask(self, schema_id):
            looked_up.append(schema_id)
            raise GatewayError("away")

    decoder = PageDecoder(Refusing())
    assert [decoder.decode(struct.pack(">q", index << 24)) for index in range(1, 200)] == [None] * 199
    assert len(looked_up) == LONG_LOOKUPS_PER_PAGE
    decoder.decode(b"\0\0\0\x02\0x")
    assert looked_up[-1] == 512


def test_what_the_page_shows_of_a_record_with_a_schema_is_what_a_search_and_an_expression_match(
    page, confluent, registry, topic, operator, client_of
):
    avro = AvroSerializer(confluent, ORDER_WITH_NOTE)({"id": 141, "note": "PAID"}, value_of(topic))
    framed_json = JSONSerializer(JSON_ORDER, confluent)({"id": 141}, value_of(f"{topic}-json"))
    for data, needle, expression in (
        (avro, '"note": "PAID"', "value.id >= 100.0 && value.note == 'PAID'"),
        (framed_json, '"id": 141', "value.id == 141"),
    ):
        assert needle in page(data).context["records"][0].value.text
        for search, searched in ((needle, "value"), (expression, "cel")):
            wanted = matcher(topic, search, searched)
            assert wanted(RecordView(0, 0, 0, None, data)), (needle, searched, wanted.note)
            assert not wanted(RecordView(0, 0, 0, None, data.replace(b"PAID", b"FREE").replace(b"\x9a\x02", b"\x02")
                                         .replace(b"141", b"1")))  # fmt: skip
            wanted.close()


def test_a_page_asks_for_few_schemas_and_for_each_but_once(settings):
    settings.SCHEMA_REGISTRY = object()
    requests = []

    class Away(KeptSchemas):
        def ask(self, schema_id):
            requests.append(schema_id)
            raise GatewayError("away")

    decoder = PageDecoder(Away())
    results = [decoder.decode(b"\0" + struct.pack(">i", index) + b"x") for index in range(1, 200)]
    assert len(requests) == LOOKUPS_PER_PAGE
    assert "too many schemas" in results[-1].problem


def test_a_page_that_takes_too_long_decodes_no_more(settings, registry, topic):
    now = [0.0]
    schema_id = registry.register(f"{topic}-value", RegisteredText(ORDER))
    decoder = PageDecoder(now_s=lambda: now[0])
    data = b"\0" + struct.pack(">i", schema_id) + b"\x0e"
    assert decoder.decode(data).text == '{"id": 7}'
    now[0] = 3.0
    assert "takes too long" in decoder.decode(data).problem


def test_what_is_produced_by_schema_confluent_s_deserializers_read(produce, registry, confluent, topic):
    registry.register(f"{topic}-value", RegisteredText(ORDER_WITH_NOTE))
    answer, data = produce('{"id": 7}')
    assert answer.status_code == 302
    assert AvroDeserializer(confluent)(data, value_of(topic)) == {"id": 7, "note": ""}


def test_protobuf_and_json_are_produced_too(produce, registry, confluent, topic, collect):
    made = message_class(f"c{topic[2:]}", id="int32")
    ProtobufSerializer(made, confluent, {"use.deprecated.format": False})(made(id=1), value_of(topic))
    _, data = produce('{"id": 7}')
    assert ProtobufDeserializer(made, {"use.deprecated.format": False})(data, value_of(topic)).id == 7


def test_json_is_checked_and_produced(produce, registry, confluent, topic):
    registry.register(f"{topic}-value", RegisteredText(JSON_ORDER, "JSON"))
    refused, data = produce('{"id": "seven"}')
    assert (refused.status_code, data) == (422, None)
    assert "id: &#x27;seven&#x27; is not of type &#x27;integer&#x27;" in refused.content.decode()
    _, data = produce('{"id": 7}')
    assert JSONDeserializer(JSON_ORDER)(data, value_of(topic)) == {"id": 7}


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ('{"id": "seven"}', "id: “seven” is no int"),
        ('{"note": "x"}', "id: it is missing, and has no default"),
        ('{"id": 1, "more": 2}', "more: shop.Order has no such field"),
        ("{", "this is no JSON"),
    ],
)
def test_a_field_that_does_not_fit_is_named(typed, sentence, produce, registry, topic):
    registry.register(f"{topic}-value", RegisteredText(ORDER_WITH_NOTE))
    answer, data = produce(typed)
    assert (answer.status_code, data) == (422, None)
    assert sentence in answer.content.decode()


def test_a_topic_without_a_schema_is_told(produce, registry, topic):
    answer, _ = produce("{}")
    assert f"The registry has no schema {topic}-value" in answer.content.decode()


def test_a_pattern_that_takes_for_ever_is_given_up(monkeypatch):
    monkeypatch.setattr(json_check, "_SECONDS_MAX", 3.0)
    with pytest.raises(NotEncodedError, match="not found out within"):
        json_check.check('{"type": "string", "pattern": "^(a+)+$"}', {}, json.dumps("a" * 60 + "!"))


def test_nothing_is_fetched_for_a_reference():
    schema = '{"properties": {"a": {"$ref": "http://127.0.0.1:1/x.json"}}}'
    with pytest.raises(NotEncodedError, match=r"Unresolvable|cannot be used"):
        json_check.check(schema, {}, '{"a": 1}')
