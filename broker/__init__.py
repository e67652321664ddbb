"""The Kafka-protocol cluster and the processes around it. See ARCHITECTURE.md for which room may import which."""
