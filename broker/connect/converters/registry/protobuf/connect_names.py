"""Words of Confluent's `ProtobufData`, and the messages that stand for Connect's logical types."""

from broker.connect.api.schema import DATE, DECIMAL, TIME, TIMESTAMP

SPACE = "io.confluent.connect.protobuf"
UNION = f"{SPACE}.Union."
ENUM = f"{SPACE}.Enum"
TAG = f"{SPACE}.Tag"
#: Of a message whose schema has no name; with a number behind it.
DEFAULT_NAME = "ConnectDefault"
ENTRY = "Entry"

TYPE = "connect.type"
NAME = "connect.name"
VERSION = "connect.version"

#: The message of a logical type, and the file it is imported from.
LOGICAL = {
    DECIMAL: ("confluent.type.Decimal", "confluent/type/decimal.proto"),
    DATE: ("google.type.Date", "google/type/date.proto"),
    TIME: ("google.type.TimeOfDay", "google/type/timeofday.proto"),
    TIMESTAMP: ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
}
META = "confluent/meta.proto"
WRAPPERS = "google/protobuf/wrappers.proto"
