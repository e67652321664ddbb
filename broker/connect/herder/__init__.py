"""Keeps what runs here like what is configured, alone or as a member of a group of workers."""
