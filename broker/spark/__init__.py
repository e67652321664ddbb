"""Stream jobs on Spark: a Kafka source and sink for PySpark in Python, the driver process, and the jobs.

An ordinary client of any Kafka. Source and sink speak the wire through broker.client: fetched batches become Arrow
columns in bulk, and a batch of a query is written in transactions that the driver ends.
"""
