"""Configurations as others publish them, in names of our own, are taken as they are, or each obstacle is named."""

import pytest

from broker.connect.herder.errors import BadRequest
from broker.connect.herder.task_configs import published, translated
from broker.connect.herder.validation import connector_class, require_valid, validate
from broker.connect.plugins.compatible import translate
from broker.connect.plugins.compatible.connectors import CONNECTORS
from broker.connect.settings import STANDALONE, read_settings

SETTINGS = read_settings(
    {"key.converter": "JsonConverter", "value.converter": "JsonConverter", "offset.storage.file.filename": "/x"},
    STANDALONE,
)
JDBC, AIVEN_JDBC = "io.confluent.connect.jdbc.Jdbc{}Connector", "io.aiven.connect.jdbc.Jdbc{}Connector"
S3, AIVEN_S3 = "io.confluent.connect.s3.S3SinkConnector", "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector"
HTTP, AIVEN_HTTP = "io.confluent.connect.http.HttpSinkConnector", "io.aiven.kafka.connect.http.HttpSinkConnector"


def config(class_name, **settings):
    given = {key.replace("__", "."): value for key, value in settings.items()}
    return {"name": "orchard", "connector.class": class_name, "tasks.max": "1", **given}


def errors_of(props):
    infos = validate(props, SETTINGS)
    return {item["value"]["name"]: item["value"]["errors"] for item in infos["configs"] if item["value"]["errors"]}


SINK = {"topics": "pears,plums"}
TAKEN = {
    "Confluent's JDBC source of one table": config(
        JDBC.format("Source"), mode="incrementing", incrementing__column__name="tree", topic__prefix="orchard-",
        connection__url="jdbc:postgresql://db:5432/orchard?user=ann&password=pw", table__whitelist="trees",
        validate__non__null="false", poll__interval__ms="2000",
    ),
    "the source of all tables": config(
        "JdbcSource", mode="bulk", topic__prefix="all_", connection__url="jdbc:sqlite:/tmp/orchard.db",
        connection__attempts="2", table__blacklist="tools", table__types="TABLE",
    ),
    "Aiven's source": config(
        AIVEN_JDBC.format("Source"), mode="timestamp+incrementing", timestamp__column__name="changed",
        incrementing__column__name="id", topic__prefix="o.", numeric__mapping="best_fit", schema__pattern="garden",
        connection__url="jdbc:postgresql://db:5432/orchard?ssl=require", table__whitelist="trees", db__timezone="UTC",
        dialect__name="PostgreSqlDatabaseDialect", connection__user="ann", connection__password="pw",
    ),
    "Confluent's JDBC sink": config(
        "JdbcSinkConnector", **SINK, insert__mode="upsert", pk__mode="kafka", auto__create="true", auto__evolve="true",
        connection__url="jdbc:postgresql://db/orchard?currentSchema=garden&stringtype=unspecified",
        fields__whitelist="id,kind", quote__sql__identifiers="always",
    ),
    "Aiven's JDBC sink": config(
        AIVEN_JDBC.format("Sink"), **SINK, insert__mode="INSERT", pk__mode="record_value", delete__enabled="false",
        connection__url="jdbc:postgresql://db/orchard", auto__create="true",
    ),
    "Debezium's JDBC sink": config(
        "io.debezium.connector.jdbc.JdbcSinkConnector", **SINK, insert__mode="upsert", primary__key__mode="record_key",
        connection__url="jdbc:postgresql://db/orchard", connection__username="ann", connection__password="pw",
        schema__evolution="basic", collection__name__format="${topic}",
    ),
    "Confluent's S3 sink": config(
        S3, **SINK, s3__bucket__name="harvest", s3__region="eu-west-1", flush__size="100", s3__part__size="5242880",
        storage__class="io.confluent.connect.s3.storage.S3Storage", schema__compatibility="NONE", topics__dir="raw",
        format__class="io.confluent.connect.s3.format.json.JsonFormat", store__url="http://minio:9000",
        partitioner__class="io.confluent.connect.storage.partitioner.DefaultPartitioner",
    ),
    "the S3 sink by time": config(
        "S3SinkConnector", **SINK, s3__bucket__name="harvest", flush__size="100",
        rotate__schedule__interval__ms="60000",
        format__class="io.confluent.connect.s3.format.avro.AvroFormat", path__format="'y'=YYYY/'m'=MM",
        partitioner__class="io.confluent.connect.storage.partitioner.TimeBasedPartitioner", locale="en", timezone="UTC",
        partition__duration__ms="3600000", timestamp__extractor="Record", behavior__on__null__values="ignore",
    ),
    "Aiven's S3 sink": config(
        AIVEN_S3, **SINK, aws__access__key__id="key", aws__secret__access__key="secret",
        aws__s3__bucket__name="harvest", aws__s3__region="eu-west-1", format__output__type="jsonl",
        format__output__envelope="false", file__compression__type="none",
    ),
    "Confluent's HTTP sink": config(
        HTTP, **SINK, http__api__url="http://farm.example/pears", request__body__format="json", auth__type="BASIC",
        connection__user="ann", connection__password="pw", headers="X-Farm:7|Accept:application/json",
        reporter__bootstrap__servers="b:9092", reporter__error__topic__name="spoiled",
        reporter__error__topic__replication__factor="1",
    ),
    "Aiven's HTTP sink": config(
        AIVEN_HTTP, **SINK, http__url="https://farm.example/pears", http__authorization__type="static",
        http__headers__authorization="Bearer x", batching__enabled="true", batch__max__size="20", http__timeout="5",
    ),
}  # fmt: skip


def test_a_year_is_in_javas_letters_and_what_is_quoted_stays_as_it_is():
    props = TAKEN["the S3 sink by time"] | {"path.format": "'Year'=YYYY/'Month'=MM/'by Y'=Y"}
    assert translated(props)["path.format"] == "'Year'=yyyy/'Month'=MM/'by Y'=yyyy"


@pytest.mark.parametrize("name", TAKEN)
def test_what_others_publish_is_taken_as_it_is(name):
    assert errors_of(TAKEN[name]) == {}
    own = translated(TAKEN[name])
    assert own["connector.class"].startswith("barnabas.connect.")
    connector_class(own).CONFIG.parse(own)
    require_valid(own, SETTINGS)


def test_settings_of_ours_have_the_values_of_theirs():
    own = translated(TAKEN["Confluent's JDBC source of one table"])
    assert own["connection.url"] == "postgresql://db:5432/orchard"
    assert (own["connection.user"], own["connection.password"]) == ("ann", "pw")
    own = translated(TAKEN["Confluent's JDBC sink"])
    assert own["connection.url"] == "postgresql://db/orchard?options=-csearch_path%3Dgarden"
    own = translated(TAKEN["the S3 sink by time"])
    assert (own["format"], own["partitioner"], own["path.format"]) == ("avro", "time", "'y'=yyyy/'m'=MM")
    assert (own["s3.prefix"], own["file.max.records"]) == ("topics", "100")
    own = translated(TAKEN["Confluent's HTTP sink"])
    assert own["http.headers"] == "X-Farm: 7\nAccept: application/json"
    assert (own["http.authorization"], own["batch.max.records"]) == ("Basic YW5uOnB3", "1")
    assert own["errors.deadletterqueue.topic.name"] == "spoiled"
    own = translated(TAKEN["Debezium's JDBC sink"])
    assert (own["pk.mode"], own["auto.create"], own["connection.user"]) == ("record_key", "true", "ann")
    assert translated(TAKEN["Aiven's HTTP sink"])["request.timeout.ms"] == "5000"


REFUSED = [
    ("Confluent's JDBC sink", "connection.url", "jdbc:mysql://db/orchard", "use jdbc:postgresql or jdbc:sqlite"),
    ("Confluent's JDBC sink", "connection.url", "jdbc:postgresql://db/o?proxy=x", "the parameter proxy"),
    ("Confluent's JDBC sink", "dialect.name", "OracleDatabaseDialect", "databases are SQLite and PostgreSQL"),
    ("Confluent's JDBC sink", "topics.to.tables.mapping", "a:b", "use RegexRouter"),
    ("the source of all tables", "timestamp.initial", "7", "PATCH /connectors/"),
    ("the source of all tables", "table.types", "VIEW", "name a view in table.whitelist"),
    ("Confluent's S3 sink", "format.class", "io.confluent.connect.s3.format.bytearray.ByteArrayFormat", "jsonformat"),
    ("Confluent's S3 sink", "s3.proxy.url", "http://proxy", "a proxy is not supported"),
    ("Confluent's S3 sink", "flush.size", "many", "Invalid value many for configuration flush.size"),
    ("Confluent's S3 sink", "partitioner.class", "x.FieldPartitioner", "TimeBasedPartitioner"),
    ("the S3 sink by time", "timezone", "Asia/Tokyo", "directories of time are in UTC"),
    ("Aiven's S3 sink", "format.output.type", "csv", "this worker knows jsonl, parquet"),
    ("Confluent's HTTP sink", "http.api.url", "http://farm.example/${topic}", "a connector for each address"),
    ("Confluent's HTTP sink", "reporter.result.topic.name", "sold", "responses are not kept"),
    ("Aiven's HTTP sink", "oauth2.client.id", "ann", "put the token into http.authorization"),
]


@pytest.mark.parametrize(("name", "key", "value", "why"), REFUSED)
def test_what_has_no_counterpart_is_refused_by_its_name_with_what_to_use_instead(name, key, value, why):
    errors = errors_of(TAKEN[name] | {key: value})
    assert list(errors) == [key]
    assert why in errors[key][0]
    with pytest.raises(BadRequest, match="contains the following 1 error"):
        require_valid(TAKEN[name] | {key: value}, SETTINGS)


def test_a_document_of_validation_speaks_in_their_words():
    infos = validate(TAKEN["Confluent's S3 sink"], SETTINGS)
    shown = {item["value"]["name"]: item for item in infos["configs"]}
    assert shown["flush.size"]["value"]["value"] == "100"
    assert shown["flush.size"]["definition"]["name"] == "flush.size"
    assert "file.max.records" not in shown
    assert infos["name"] == S3


def test_a_class_that_is_not_here_says_what_is():
    with pytest.raises(BadRequest, match=r"matches io.debezium.connector.mysql.MySqlConnector. Instead: SqlSource"):
        require_valid(config("io.debezium.connector.mysql.MySqlConnector"), SETTINGS)


def test_what_goes_to_the_topic_of_configurations_has_no_value_of_a_reference():
    raw = TAKEN["Aiven's S3 sink"] | {"aws.secret.access.key": "${file:/run/s3:secret}"}
    props = raw | {"aws.secret.access.key": "pears-are-ripe"}
    own = translated(props)
    (task,) = published([own | {"task.class": "t"}], raw, props)
    assert "pears-are-ripe" not in str(task)
    resolved = task | {"aws.secret.access.key": "pears-are-ripe"}
    assert translated(props | resolved) == own | {"task.class": "t"}


def test_what_a_task_was_given_of_its_own_is_kept():
    props = TAKEN["Confluent's JDBC source of one table"]
    (task,) = published([translated(props) | {"table.whitelist": "leaves"}], props, props)
    assert translated(props | task)["table.whitelist"] == "leaves"


def test_a_configuration_of_ours_is_not_touched():
    own = config("barnabas.connect.SqlSinkConnector", flush__size="1")
    assert translate(own).props == own


@pytest.mark.parametrize("name", CONNECTORS)
def test_every_setting_that_is_mapped_is_one_of_ours(name):
    connector = CONNECTORS[name]
    cls = connector_class({"connector.class": connector.ours})
    known = cls.CONFIG.keys.keys() | {
        *("errors.deadletterqueue.topic.name", "errors.deadletterqueue.topic.replication.factor"),
    }
    ours = {setting.ours for setting in connector.settings.values()} - {None}
    assert ours | connector.defaults.keys() <= known
    for key, setting in connector.settings.items():
        assert setting.ours or setting.values is not None or setting.advice, key
