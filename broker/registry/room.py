"""What the registry holds stays in memory: beyond its bounds nothing is added, and deleting is always possible. Pure.

Settings of all subjects together are one entry each: an operator can make a full registry read-only.
"""

from broker.common.limits import REGISTRY_VERSIONS_MAX
from broker.common.security_limits import REGISTRY_HELD_BYTES_MAX
from broker.registry.errors import not_permitted
from broker.registry.store import SchemaStore


def require_room_for_version(store: SchemaStore) -> None:
    """Raises RegistryError 42205 where one more version has no room."""
    if store.version_count >= REGISTRY_VERSIONS_MAX:
        raise not_permitted(f"There are {store.version_count} versions; delete some for good before adding more.")
    _require_memory(store)


def require_room_for_setting(store: SchemaStore, subject: str) -> None:
    """Raises RegistryError 42205 where a setting that the subject has not, or a longer one, has no room."""
    if subject:
        _require_memory(store)


def _require_memory(store: SchemaStore) -> None:
    if store.held_bytes >= REGISTRY_HELD_BYTES_MAX:
        raise not_permitted(
            f"Schemas and settings take {store.held_bytes:,} bytes of memory; delete some for good before adding more."
        )
