"""The cluster at a glance: health and its reasons, charts, and what machines ask for."""
