"""Converters whose schemas are in a registry: a magic byte and the schema's id, then the value in its format.

Settings, names and bytes are those of Confluent's converters and serializers.
"""
