"""Connect's schemas and values in Protobuf, as Confluent's `ProtobufData` maps them."""
