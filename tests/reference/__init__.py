"""The reference is the judge: generated cases go through Barnabas and through Kafka's and Java's own classes.

`python -m tests.reference` (`make reference`) prints a table of counts; a difference that `differences.toml` does not
list fails, and so does a listed one that no longer occurs. `recorded/` keeps cases with the reference's outcome for the
gate, which needs no Java.
"""
