"""The only sockets of a broker: listeners, client connections, outbound connections. Imports no tower."""
