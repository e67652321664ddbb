"""Connections to a cluster: the client, its bounds, and a trial of one."""
