"""The topics in which Connect workers, registries and probes of this console keep what they know."""

from console.processes.models import ManagedProcess

#: By kind, the keys of its properties that name such topics.
_KEYS = {
    "connect": ("config.storage.topic", "offset.storage.topic", "status.storage.topic"),
    "registry": ("kafkastore.topic",),
    "probe": ("topic",),
}


def topics_of_services() -> list[str]:
    specs = ManagedProcess.objects.filter(kind__in=_KEYS).values_list("kind", "spec")
    return [str(name) for kind, spec in specs for key in _KEYS[kind] if (name := spec.get("properties", {}).get(key))]
