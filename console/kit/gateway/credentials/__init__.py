"""SCRAM credentials of a cluster, and its first users."""
