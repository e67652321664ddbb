"""Addresses of hosts as they are compared: one for each host, however it came."""

_MAPPED = "::ffff:"


def ipv4_if_mapped(host: str) -> str:
    """An IPv4 client of a socket for both families has an IPv6 address there; its own is told."""
    return host.removeprefix(_MAPPED) if "." in host else host
