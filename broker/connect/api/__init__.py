"""What a connector, converter, transform or predicate of Connect is written against; it imports nothing of the rest.

The shapes are those of Kafka's `connect-api`, with Python's names: who has written a connector there finds its way.
"""

from broker.connect.api.config import (
    REQUIRED,
    ConfigDef,
    ConfigKey,
    ConfigType,
    ConfigValue,
    Importance,
    Password,
    Width,
)
from broker.connect.api.errors import ConfigError, ConnectError, DataError, RecordError, RetriableError
from broker.connect.api.plugin import (
    ConnectorContext,
    Converter,
    ErrantRecordReporter,
    HeaderConverter,
    OffsetReader,
    Predicate,
    SinkConnector,
    SinkTask,
    SinkTaskContext,
    SourceConnector,
    SourceTask,
    SourceTaskContext,
    TransactionContext,
    Transformation,
    ValueAndHeaderConverter,
)
from broker.connect.api.record import ConnectPartition, ConnectRecord, Header, SinkColumns, SinkRecord, SourceRecord
from broker.connect.api.schema import Field, Schema, Struct, Type

__all__ = [
    "REQUIRED",
    "ConfigDef",
    "ConfigError",
    "ConfigKey",
    "ConfigType",
    "ConfigValue",
    "ConnectError",
    "ConnectPartition",
    "ConnectRecord",
    "ConnectorContext",
    "Converter",
    "DataError",
    "ErrantRecordReporter",
    "Field",
    "Header",
    "HeaderConverter",
    "Importance",
    "OffsetReader",
    "Password",
    "Predicate",
    "RecordError",
    "RetriableError",
    "Schema",
    "SinkColumns",
    "SinkConnector",
    "SinkRecord",
    "SinkTask",
    "SinkTaskContext",
    "SourceConnector",
    "SourceRecord",
    "SourceTask",
    "SourceTaskContext",
    "Struct",
    "TransactionContext",
    "Transformation",
    "Type",
    "ValueAndHeaderConverter",
    "Width",
]
