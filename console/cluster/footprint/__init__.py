"""What the console itself asks of the cluster: its requests by process, broker and API, and what people read."""
