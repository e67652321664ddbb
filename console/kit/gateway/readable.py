"""Waiting for a descriptor, as brokers do."""

from broker.common.readable import readable

__all__ = ["readable"]
