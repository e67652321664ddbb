"""Brokers: their settings, log directories, requests, certificates."""
