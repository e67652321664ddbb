"""The request that moves replicas between the directories of their broker (KIP-113)."""

from collections.abc import Mapping

from broker.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)


def directory_request(wanted: Mapping[tuple[str, int], str]) -> AlterReplicaLogDirsRequest:
    """Return the request. `wanted`: (topic, partition) → path."""
    by_path: dict[str, dict[str, list[int]]] = {}
    for (topic, partition), path in sorted(wanted.items()):
        by_path.setdefault(path, {}).setdefault(topic, []).append(partition)
    return AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=path,
                topics=[AlterReplicaLogDirTopic(name=name, partitions=numbers) for name, numbers in topics.items()],
            )
            for path, topics in by_path.items()
        ]
    )
