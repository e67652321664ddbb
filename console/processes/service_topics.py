"""The topics in which Connect workers, registries and probes of this console keep what they know."""

from console.kit.access.internal_topics import InternalTopicSource
from console.processes.models import ManagedProcess

#: By kind, the keys of its properties that name such topics.
_KEYS = {
    "connect": ("config.storage.topic", "offset.storage.topic", "status.storage.topic"),
    "registry": ("kafkastore.topic",),
    "probe": ("topic",),
}


def topics_of_services() -> dict[str, InternalTopicSource]:
    rows = ManagedProcess.objects.filter(kind__in=_KEYS).values_list("name", "kind", "spec")
    return {
        str(topic): InternalTopicSource(f"{key} of process", process)
        for process, kind, spec in rows
        for key in _KEYS[kind]
        if (topic := spec.get("properties", {}).get(key))
    }
