"""The cluster as a whole: its last known state, health with reasons, the overview, /healthz and /metrics."""
