"""Words of Confluent's `JsonSchemaData`."""

from broker.connect.api import Type

SPACE = "io.confluent.connect.json"
UNION = f"{SPACE}.OneOf"
UNION_FIELD = f"{UNION}.field."

TYPE = "connect.type"
INDEX = "connect.index"
VERSION = "connect.version"
PARAMETERS = "connect.parameters"

INTEGERS = {type_.value: type_ for type_ in (Type.INT8, Type.INT16, Type.INT32, Type.INT64)}
NUMBERS = {type_.value: type_ for type_ in (Type.FLOAT32, Type.FLOAT64, Type.BYTES)}
