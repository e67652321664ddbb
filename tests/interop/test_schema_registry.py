"""confluent-kafka's serializers, as they are, with our registry in front of a real cluster."""

import json
import uuid

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tests.registry_process import running_registries

ORDER = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"int"}]}'
ORDER_WITH_NOTE = ORDER.replace("}]}", '},{"name":"note","type":"string","default":""}]}')
JSON_ORDER = '{"title":"Order","type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}'


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
def other(registry):
    """One that has seen nothing yet."""
    return SchemaRegistryClient({"url": registry.url})


def value_of(topic):
    return SerializationContext(topic, MessageField.VALUE)


def message_class(package, name="Order", imports=(), **fields):
    """A Protobuf class as protoc makes one. A field is int32, string or another message's descriptor."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    pool = descriptor_pool.DescriptorPool()
    for import_ in imports:
        pool.AddSerializedFile(import_.serialized_pb)
        file.dependency.append(import_.name)
    message = file.message_type.add(name=name)
    for number, (field, kind) in enumerate(fields.items(), 1):
        types = {"int32": 5, "string": 9}
        if kind in types:
            message.field.add(name=field, number=number, label=1, type=types[kind])
        else:
            message.field.add(name=field, number=number, label=1, type=11, type_name=f".{kind}")
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))


def test_avro_there_and_back(client, other, name):
    data = AvroSerializer(client, ORDER)({"id": 7}, value_of(name))
    assert AvroDeserializer(other)(data, value_of(name)) == {"id": 7}
    assert client.get_latest_version(f"{name}-value").version == 1


def test_a_schema_is_found_by_the_guid_in_a_records_header(registry, client, other, name):
    """Framing of Confluent's clients of 8.0: nothing in front of the value, the GUID in a header."""
    headers = []
    value = SerializationContext(name, MessageField.VALUE, headers)
    write = AvroSerializer(
        client,
        ORDER_WITH_NOTE,
        conf={"auto.register.schemas": True, "schema.id.serializer": header_schema_id_serializer},
    )
    data = write({"id": 7, "note": "by its guid"}, value)
    assert data[:2] == b"\x0e\x16"
    ((header, framed),) = headers
    assert (header, framed[:1]) == ("__value_schema_id", b"\1")
    assert AvroDeserializer(other)(data, SerializationContext(name, MessageField.VALUE, headers))["id"] == 7
    guid = str(uuid.UUID(bytes=framed[1:]))
    version = registry.ask("GET", f"/subjects/{name}-value/versions/1").body
    assert version["guid"] == guid
    assert registry.ask("GET", f"/schemas/guids/{guid}").body["schema"] == version["schema"]
    ids = registry.ask("GET", f"/schemas/guids/{guid}/ids").body
    assert {"context": ".", "id": version["id"]} in ids
    for wrong in (uuid.uuid4(), "no-guid"):
        assert registry.ask("GET", f"/schemas/guids/{wrong}").body["error_code"] == 40403
        assert registry.ask("GET", f"/schemas/guids/{wrong}/ids").status == 404


def test_json_there_and_back(client, other, name):
    data = JSONSerializer(JSON_ORDER, client)({"id": 7}, value_of(name))
    assert JSONDeserializer(None, schema_registry_client=other)(data, value_of(name)) == {"id": 7}
    assert client.get_latest_version(f"{name}-value").schema.schema_type == "JSON"


def test_protobuf_there_and_back(client, other, name):
    order = message_class(f"p{name[2:]}", id="int32", note="string")
    data = ProtobufSerializer(order, client, {"use.deprecated.format": False})(order(id=7, note="x"), value_of(name))
    back = ProtobufDeserializer(order, {"use.deprecated.format": False}, other)(data, value_of(name))
    assert (back.id, back.note) == (7, "x")
    text = client.get_latest_version(f"{name}-value").schema.schema_str
    assert "message Order" in text


def test_protobuf_registers_what_it_imports_and_reads_it_again(client, other, name):
    package = f"p{name[2:]}"
    item = message_class(f"{package}item", "Item", id="int32")
    order = message_class(package, imports=[item.DESCRIPTOR.file], item=f"{package}item.Item")
    serializer = ProtobufSerializer(order, client, {"use.deprecated.format": False})
    sent = order()
    sent.item.id = 7
    data = serializer(sent, value_of(name))
    back = ProtobufDeserializer(order, {"use.deprecated.format": False}, other)(data, value_of(name))
    assert back.item.id == 7
    [reference] = client.get_latest_version(f"{name}-value").schema.references
    assert reference.name == f"{package}item.proto"
    latest = client.get_latest_version(reference.subject)
    with pytest.raises(SchemaRegistryError) as refused:
        client.delete_version(reference.subject, latest.version)
    assert refused.value.error_code == 42206


def test_a_protobuf_text_and_its_descriptor_are_one_schema(client, name):
    order = message_class(f"p{name[2:]}", id="int32")
    text = f'// a comment\nsyntax = "proto3";\npackage p{name[2:]};\nmessage Order {{ int32 id = 1; }}'
    schema_id = client.register_schema(f"{name}-value", Schema(text, "PROTOBUF"))
    data = ProtobufSerializer(order, client, {"use.deprecated.format": False})(order(id=1), value_of(name))
    assert int.from_bytes(data[1:5]) == schema_id


def test_references_of_avro_and_json(client, other, name):
    client.register_schema(f"{name}-order", Schema(ORDER, "AVRO"))
    basket = (
        '{"type":"record","name":"Basket","fields":[{"name":"orders","type":{"type":"array","items":"shop.Order"}}]}'
    )
    schema = Schema(basket, "AVRO", [SchemaReference("shop.Order", f"{name}-order", 1)])
    data = AvroSerializer(client, schema)({"orders": [{"id": 1}]}, value_of(name))
    assert AvroDeserializer(other)(data, value_of(name)) == {"orders": [{"id": 1}]}

    client.register_schema(f"{name}-json", Schema(JSON_ORDER, "JSON"))
    holder = '{"title":"Basket","type":"object","properties":{"order":{"$ref":"order.json"}}}'
    schema = Schema(holder, "JSON", [SchemaReference("order.json", f"{name}-json", 1)])
    data = JSONSerializer(schema, client)({"order": {"id": 1}}, value_of(f"{name}-j"))
    assert JSONDeserializer(None, schema_registry_client=other)(data, value_of(f"{name}-j")) == {"order": {"id": 1}}


def test_the_latest_version_is_used_and_nothing_is_registered_on_demand(client, name):
    subject = f"{name}-value"
    client.register_schema(subject, Schema(ORDER, "AVRO"))
    latest = client.register_schema(subject, Schema(ORDER_WITH_NOTE, "AVRO"))
    use_latest = {"auto.register.schemas": False, "use.latest.version": True}
    data = AvroSerializer(client, ORDER, conf=use_latest)({"id": 7, "note": "x"}, value_of(name))
    assert int.from_bytes(data[1:5]) == latest

    known_only = {"auto.register.schemas": False}
    data = AvroSerializer(client, ORDER, conf=known_only)({"id": 7}, value_of(name))
    assert int.from_bytes(data[1:5]) != latest
    with pytest.raises(SchemaRegistryError) as refused:
        AvroSerializer(client, ORDER.replace("Order", "Other"), conf=known_only)({"id": 7}, value_of(name))
    assert refused.value.error_code == 40403


def test_normalized_schemas_are_one(client, name):
    one, same = (
        '{"type":"record","name":"R","b":1,"a":2,"fields":[]}',
        '{"type":"record","name":"R","a":2,"b":1,"fields":[]}',
    )
    first = client.register_schema(name, Schema(one, "AVRO"), normalize_schemas=True)
    assert client.register_schema(name, Schema(same, "AVRO"), normalize_schemas=True) == first
    assert client.get_versions(name) == [1]


def test_what_is_incompatible_is_refused_with_its_reason(client, name):
    client.register_schema(name, Schema(ORDER, "AVRO"))
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(name, Schema(ORDER.replace('"int"', '"string"'), "AVRO"))
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 40901)
    assert "TYPE_MISMATCH" in refused.value.error_message
    assert not client.test_compatibility(name, Schema(ORDER.replace('"int"', '"string"'), "AVRO"))
    client.set_compatibility(name, "NONE")
    assert client.get_compatibility(name) == "NONE"
    client.register_schema(name, Schema(ORDER.replace('"int"', '"string"'), "AVRO"))


def test_the_life_of_a_subject(registry, client, name):
    order, with_note = (item.replace("Order", f"Order_{name[2:]}") for item in (ORDER, ORDER_WITH_NOTE))
    client.register_schema(name, Schema(order, "AVRO"))
    schema_id = client.register_schema(name, Schema(with_note, "AVRO"))
    assert client.get_versions(name) == [1, 2]
    assert registry.ask("DELETE", f"/subjects/{name}/versions/2?permanent=true").body["error_code"] == 40407
    assert client.delete_version(name, 2) == 2
    assert registry.ask("DELETE", f"/subjects/{name}/versions/2").body["error_code"] == 40406
    assert registry.ask("GET", f"/schemas/ids/{schema_id}").status == 200
    assert client.delete_version(name, 2, permanent=True) == 2
    assert registry.ask("GET", f"/schemas/ids/{schema_id}").body["error_code"] == 40403
    assert registry.ask("DELETE", f"/subjects/{name}?permanent=true").body["error_code"] == 40405
    assert client.delete_subject(name) == [1]
    assert registry.ask("GET", f"/subjects/{name}/versions").body["error_code"] == 40401
    assert registry.ask("GET", f"/subjects/{name}/versions?deleted=True").body == [1]
    assert client.delete_subject(name, permanent=True) == [1]
    other = client.register_schema(name, Schema(order.replace("id", "number"), "AVRO"))
    assert other > schema_id


def test_every_endpoint_answers_in_confluents_shape(registry, name, cluster):
    ask = registry.ask
    made = ask("POST", f"/subjects/{name}%2Fx/versions", {"schema": ORDER, "references": [], "unknown": 1})
    assert made.status == 200
    schema_id = made.body["id"]
    subject = f"/subjects/{name}%2Fx"
    latest = ask("GET", f"{subject}/versions/latest").body
    assert latest.pop("ts") > 1_700_000_000_000
    version = {
        "subject": f"{name}/x", "version": 1, "schemaType": "AVRO", "schema": ORDER, "deleted": False,
        "guid": "8d35211b-6b9c-2970-f363-f2eaf935eefc",
    }  # fmt: skip
    assert latest == version | {"id": schema_id}
    assert ask("GET", f"{subject}/versions/-1/schema").body == json.loads(ORDER)
    assert ask("GET", f"{subject}/versions/1/referencedby").body == []
    assert ask("POST", subject, {"schema": ORDER}).body["version"] == 1
    by_id = ask("GET", f"/schemas/ids/{schema_id}?subject={name}%2Fx").body
    assert {name: value for name, value in by_id.items() if name != "ts"} == latest
    assert ask("GET", f"/schemas/ids/{schema_id}?fetchMaxId=true").body["maxId"] >= schema_id
    assert ask("GET", f"/schemas/ids/{schema_id}/schema").body == json.loads(ORDER)
    assert f"{name}/x" in ask("GET", f"/schemas/ids/{schema_id}/subjects").body
    assert {"subject": f"{name}/x", "version": 1} in ask("GET", f"/schemas/ids/{schema_id}/versions").body
    assert sorted(ask("GET", "/schemas/types").body) == ["AVRO", "JSON", "PROTOBUF"]
    assert ask("GET", f"/schemas?subjectPrefix={name}").body[0]["id"] == schema_id
    assert ask("GET", f"/subjects?subjectPrefix={name}").body == [f"{name}/x"]
    assert ask("POST", f"/compatibility{subject}/versions/latest?verbose=true", {"schema": ORDER}).body == {
        "is_compatible": True, "messages": [],
    }  # fmt: skip
    assert ask("POST", f"/compatibility/subjects/no-{name}/versions/latest", {"schema": ORDER}).body == {
        "is_compatible": True
    }
    assert ask("POST", f"/compatibility/subjects/no-{name}/versions/1", {"schema": ORDER}).status == 404
    assert ask("GET", "/config").body["compatibilityLevel"] == "BACKWARD"
    assert ask("GET", f"/config/{name}").body["error_code"] == 40408
    assert ask("GET", f"/config/{name}?defaultToGlobal=True").body == {"compatibilityLevel": "BACKWARD"}
    assert ask("PUT", f"/config/{name}", {"compatibility": "nothing"}).body["error_code"] == 42203
    assert ask("PUT", f"/config/{name}", {"compatibility": "full"}).body == {"compatibility": "FULL"}
    assert ask("DELETE", f"/config/{name}").body == {"compatibilityLevel": "FULL"}
    assert ask("DELETE", f"/config/{name}").body["error_code"] == 40401
    assert ask("GET", "/mode").body == {"mode": "READWRITE"}
    assert ask("GET", f"/mode/{name}").body["error_code"] == 40409
    assert ask("PUT", f"/mode/{name}", {"mode": "WRONG"}).body["error_code"] == 42204
    assert ask("PUT", f"/mode/{name}", {"mode": "READONLY"}).body == {"mode": "READONLY"}
    assert ask("POST", f"/subjects/{name}/versions", {"schema": ORDER}).body["error_code"] == 42205
    assert ask("DELETE", f"/mode/{name}").body == {"mode": "READONLY"}
    assert "." in ask("GET", "/contexts").body
    body = ask("GET", "/v1/metadata/id").body
    assert body["id"] == ""
    brokers = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    assert body["scope"]["clusters"]["kafka-cluster"] == brokers.list_topics(timeout=10).cluster_id
    assert "version" in ask("GET", "/v1/metadata/version").body
    assert ask("POST", "/").body == {}
    assert ask("GET", "/associations/resources/-/t?resourceType=topic").status == 404
    assert ask("GET", "/schemas/ids/9999999").body["error_code"] == 40403
    assert ask("GET", f"{subject}/versions/7").body["error_code"] == 40402
    assert ask("GET", f"{subject}/versions/0").body["error_code"] == 42202
    assert ask("POST", f"{subject}/versions", {"schema": "{"}).body["error_code"] == 42201
    assert ask("POST", f"{subject}/versions", {"schema": ORDER, "schemaType": "XML"}).body["error_code"] == 42201
    assert ask("POST", f"{subject}/versions", {"schema": ORDER, "id": 5}).body["error_code"] == 42205
    assert ask("POST", f"{subject}/versions", {"schema": "x" * 3_000_000}).status == 413


def test_contexts_have_ids_of_their_own(registry, name):
    context = f".{name}"
    made = registry.ask("POST", f"/contexts/{context}/subjects/s/versions", {"schema": ORDER})
    assert made.body["id"] == 1
    assert registry.ask("GET", f"/subjects/:{context}:s/versions").body == [1]
    assert registry.ask("GET", f"/contexts/{context}/subjects").body == [f":{context}:s"]
    by_id = registry.ask("GET", f"/contexts/{context}/schemas/ids/1").body
    assert (by_id["schema"], by_id["subject"]) == (ORDER, f":{context}:s")
    assert context in registry.ask("GET", "/contexts").body


def test_ids_come_from_elsewhere_in_import_mode_only(registry, name):
    subject = f":.{name}:s"
    early = registry.ask("POST", f"/subjects/:.{name}:orders/versions", {"schema": ORDER, "id": 7})
    assert (early.body["error_code"], early.body["message"][-21:]) == (42205, "is not in import mode")
    assert registry.ask("PUT", f"/mode/:.{name}:", {"mode": "IMPORT"}).status == 200
    without = registry.ask("POST", f"/subjects/:.{name}:orders/versions", {"schema": ORDER})
    assert (without.body["error_code"], without.body["message"][-25:]) == (42205, "is not in read-write mode")
    made = registry.ask("POST", f"/subjects/{subject}/versions", {"schema": ORDER, "id": 77, "version": 3})
    assert (made.body["id"], made.body["version"]) == (77, 3)
    other = {"schema": ORDER_WITH_NOTE, "id": 77, "version": 4}
    assert registry.ask("POST", f"/subjects/{subject}/versions", other).body["error_code"] == 42205


def test_a_reference_is_never_fetched(registry, name):
    schema = '{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}'
    response = registry.ask("POST", f"/subjects/{name}/versions", {"schema": schema, "schemaType": "JSON"})
    assert response.body["error_code"] == 42201
    assert "x.json" in response.body["message"]
