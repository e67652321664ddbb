"""Which changed settings and quotas may lose records, hold clients back or slow replication: for their colour. Pure."""

from console.state.history.differences import Values

#: A lower value keeps less or protects less; -1 is no limit.
_LOWER_IS_WORSE = ("retention.ms", "retention.bytes", "retention.hours", "retention.minutes", "min.insync.replicas")
_QUOTAS = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
_QUOTA_OF_ADDRESS = "connection_creation_rate"


def tone_of(values: Values) -> str:
    """Return "warning" if one of the changes does harm, else "plain"."""
    return (
        "warning" if any(_harms(name.partition(" ")[0], old, new) for name, (old, new) in values.items()) else "plain"
    )


def _harms(name: str, old: str | None, new: str | None) -> bool:
    if new is None:
        return False
    if ".replication.throttled." in name:
        return bool(new)
    if name == "unclean.leader.election.enable":
        return new == "true"
    if name.endswith("cleanup.policy"):
        return "delete" in new and "delete" not in (old or "delete")
    if name in (*_QUOTAS, _QUOTA_OF_ADDRESS) or name.endswith(_LOWER_IS_WORSE):
        return _is_lower(old, new)
    return False


def _is_lower(old: str | None, new: str) -> bool:
    """Return whether the limit is lower; without an old value there was a default or none, so a new value may be
    lower.
    """
    try:
        after, before = float(new), float("inf") if old is None else float(old)
    except ValueError:
        return False
    unlimited = float("inf")
    return (unlimited if after < 0 else after) < (unlimited if before < 0 else before)
