"""Converters: the bytes of a record become a schema and a value, and back."""
