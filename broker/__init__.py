"""The Kafka-protocol cluster and the processes around it. See ARCHITECTURE.md for which package may import which."""

#: Of the whole project; pyproject.toml and the command line read it here.
__version__ = "0.2.0"
