"""Words of Confluent's `AvroData`: what an Avro schema says about Connect that Avro has no word for."""

from broker.connect.api.schema import DATE, DECIMAL, TIME, TIMESTAMP

SPACE = "io.confluent.connect.avro"
#: Of a record whose schema has no name; a second one is ConnectDefault2.
DEFAULT_NAME = f"{SPACE}.ConnectDefault"
MAP_ENTRY = "MapEntry"
UNION = f"{SPACE}.Union"
ENUM = f"{SPACE}.Enum"
FIXED_SIZE = "connect.fixed.size"
PRECISION = "connect.decimal.precision"
PRECISION_DEFAULT = 64

NAME = "connect.name"
DOC = "connect.doc"
VERSION = "connect.version"
PARAMETERS = "connect.parameters"
DEFAULT = "connect.default"
TYPE = "connect.type"
INTERNAL_TYPE = "connect.internal.type"

LOGICAL = {DECIMAL: "decimal", DATE: "date", TIME: "time-millis", TIMESTAMP: "timestamp-millis"}
