"""Where the built-in plugins are: the name that REST gives, Kafka's where it is Kafka's plugin, and the code."""

_FILE = "org.apache.kafka.connect.file."
_STORAGE = "org.apache.kafka.connect.storage."
_CONVERTERS = "org.apache.kafka.connect.converters."
_TRANSFORMS = "org.apache.kafka.connect.transforms."
_PREDICATES = "org.apache.kafka.connect.transforms.predicates."
_OWN = "barnabas.connect."
_MIRROR = "org.apache.kafka.connect.mirror."

#: Transforms with a `$Key` and a `$Value` variant, and the module that has both.
_OF_KEY_OR_VALUE = {
    "Cast": "cast",
    "ExtractField": "fields",
    "Flatten": "flatten",
    "HeaderFrom": "headers",
    "HoistField": "fields",
    "InsertField": "insert_field",
    "MaskField": "mask_field",
    "ReplaceField": "replace_field",
    "SetSchemaMetadata": "schema_metadata",
    "TimestampConverter": "timestamps",
}

BUILT_IN: dict[str, str] = {
    f"{_FILE}FileStreamSourceConnector": "broker.connect.plugins.file_source:FileStreamSourceConnector",
    f"{_FILE}FileStreamSinkConnector": "broker.connect.plugins.file_sink:FileStreamSinkConnector",
    f"{_OWN}DirectorySourceConnector": "broker.connect.plugins.directory.source:DirectorySourceConnector",
    f"{_OWN}SqlSourceConnector": "broker.connect.plugins.sql.source:SqlSourceConnector",
    f"{_OWN}SqlSinkConnector": "broker.connect.plugins.sql.sink:SqlSinkConnector",
    f"{_OWN}HttpSinkConnector": "broker.connect.plugins.http_sink:HttpSinkConnector",
    f"{_OWN}ObjectSinkConnector": "broker.connect.plugins.objects.sink:ObjectSinkConnector",
    f"{_OWN}DatagenSourceConnector": "broker.connect.plugins.datagen_source:DatagenSourceConnector",
    f"{_OWN}HeartbeatSourceConnector": "broker.connect.plugins.heartbeat_source:HeartbeatSourceConnector",
    f"{_OWN}HostMetricsSourceConnector": "broker.connect.plugins.host_metrics_source:HostMetricsSourceConnector",
    f"{_MIRROR}MirrorSourceConnector": "broker.connect.plugins.mirror.source:MirrorSourceConnector",
    f"{_MIRROR}MirrorCheckpointConnector": "broker.connect.plugins.mirror.checkpoint:MirrorCheckpointConnector",
    f"{_MIRROR}MirrorHeartbeatConnector": "broker.connect.plugins.mirror.heartbeat:MirrorHeartbeatConnector",
    "org.apache.kafka.connect.json.JsonConverter": "broker.connect.converters.json:JsonConverter",
    f"{_STORAGE}StringConverter": "broker.connect.converters.plain:StringConverter",
    f"{_CONVERTERS}ByteArrayConverter": "broker.connect.converters.plain:ByteArrayConverter",
    f"{_CONVERTERS}BooleanConverter": "broker.connect.converters.plain:BooleanConverter",
    f"{_CONVERTERS}ShortConverter": "broker.connect.converters.plain:ShortConverter",
    f"{_CONVERTERS}IntegerConverter": "broker.connect.converters.plain:IntegerConverter",
    f"{_CONVERTERS}LongConverter": "broker.connect.converters.plain:LongConverter",
    f"{_CONVERTERS}FloatConverter": "broker.connect.converters.plain:FloatConverter",
    f"{_CONVERTERS}DoubleConverter": "broker.connect.converters.plain:DoubleConverter",
    "io.confluent.connect.avro.AvroConverter": "broker.connect.converters.registry.avro.converter:AvroConverter",
    "io.confluent.connect.json.JsonSchemaConverter": (
        "broker.connect.converters.registry.json_schema.converter:JsonSchemaConverter"
    ),
    "io.confluent.connect.protobuf.ProtobufConverter": (
        "broker.connect.converters.registry.protobuf.converter:ProtobufConverter"
    ),
    f"{_STORAGE}SimpleHeaderConverter": "broker.connect.converters.simple_header:SimpleHeaderConverter",
    **{
        f"{_TRANSFORMS}{name}${side}": f"broker.connect.transforms.{module}:{name}{side}"
        for name, module in _OF_KEY_OR_VALUE.items()
        for side in ("Key", "Value")
    },
    f"{_TRANSFORMS}DropHeaders": "broker.connect.transforms.headers:DropHeaders",
    f"{_TRANSFORMS}InsertHeader": "broker.connect.transforms.headers:InsertHeader",
    f"{_TRANSFORMS}Filter": "broker.connect.transforms.routing:Filter",
    f"{_TRANSFORMS}RegexRouter": "broker.connect.transforms.routing:RegexRouter",
    f"{_TRANSFORMS}TimestampRouter": "broker.connect.transforms.routing:TimestampRouter",
    f"{_TRANSFORMS}ValueToKey": "broker.connect.transforms.fields:ValueToKey",
    "io.debezium.transforms.ExtractNewRecordState": "broker.connect.transforms.unwrap:ExtractNewRecordState",
    f"{_PREDICATES}HasHeaderKey": "broker.connect.transforms.predicates:HasHeaderKey",
    f"{_PREDICATES}RecordIsTombstone": "broker.connect.transforms.predicates:RecordIsTombstone",
    f"{_PREDICATES}TopicNameMatches": "broker.connect.transforms.predicates:TopicNameMatches",
}
