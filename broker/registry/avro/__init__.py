"""Avro: its schemas as trees, as canonical text, and which of two reads what the other wrote. Pure."""
