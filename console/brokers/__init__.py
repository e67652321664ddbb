"""The brokers the collector has seen, registered or missing, and their page."""
