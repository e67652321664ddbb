"""Connect's schemas and values in JSON Schema, as Confluent's `JsonSchemaData` maps them."""
