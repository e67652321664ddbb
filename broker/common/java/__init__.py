"""Java's rules for texts, numbers, dates and patterns, for everything that promises what Kafka does. Pure.

Each module names the class of the JDK that it follows; `tests/reference` compares them with a JVM. What Java takes and
these functions do not is an error of its own kind, never another result.
"""
