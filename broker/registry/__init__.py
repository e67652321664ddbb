"""The schema registry: subjects, versions and ids of schemas over HTTP, kept in one compacted topic of the cluster.

A tower of its own: a client of the brokers like any other. What is decided is pure (`store`, `registering`,
`deleting`, `settings`, and the folder of each kind of schema); `schema_log`, `leadership` and `rest` do it.
"""
