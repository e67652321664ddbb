"""The neighbours of brokers: connectors, mirrors, stream jobs, the probe, the audit of messages."""
