"""Topics on behalf of clients: creating, placing, configuring, deleting."""
