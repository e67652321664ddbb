"""Connect's schemas and values in Avro, as Confluent's `AvroData` maps them."""
