"""TLS for a broker's sockets: what makes a context, the handshake, and the bytes behind it."""
