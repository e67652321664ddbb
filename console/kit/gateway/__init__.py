"""The only door to a cluster: Kafka's admin API and ZooKeeper's status, real and in memory."""
