"""Clusters that were added on a page, one file each, so that one that cannot be used endangers no other.

A file of clusters.toml wins: what an administrator of the host wrote is not overruled by a form.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from console.kit.common.clusters_file import ClustersFile
from console.kit.common.current_cluster import MAIN
from console.kit.common.declared_clusters import CLUSTERS_MAX, NAME, ClustersError, DeclaredCluster, said_of
from console.kit.common.owned_files import FileError, read_private_text


@dataclass(frozen=True, slots=True)
class Added:
    """`clusters` by name, and why others cannot be used."""

    clusters: dict[str, DeclaredCluster]
    left_out: dict[str, str]


def names_in(directory: Path) -> list[str]:
    names = (path.stem for path in sorted(directory.glob("*.json")))
    return [name for name in names if NAME.fullmatch(name) and name != MAIN]


def file_in(directory: Path, name: str) -> Path:
    return directory / f"{name}.json"


def read_file(path: Path) -> dict[str, Any]:
    """Return the stored cluster: `said`, as a table of clusters.toml, and `secrets`. Raises ClustersError."""
    try:
        document = json.loads(read_private_text(path))
    except FileError as error:
        raise ClustersError(str(error)) from None
    except ValueError:
        raise ClustersError(f"{path} is not as it was written.") from None
    if not isinstance(document, dict) or not isinstance(document.get("said"), dict):
        raise ClustersError(f"{path} is not as it was written.")
    return document


def read_added(directory: Path, clusters_file: ClustersFile, declared: set[str]) -> Added:
    """Read added clusters. `declared` are names that are taken. An invalid cluster never ends the program."""
    clusters: dict[str, DeclaredCluster] = {}
    left_out: dict[str, str] = {}
    here = replace(clusters_file, file=directory / "clusters")
    for name in names_in(directory):
        try:
            if name in declared:
                raise ClustersError(f"clusters.toml declares another {name}.")
            if len(declared) + len(clusters) >= CLUSTERS_MAX:
                raise ClustersError(f"At most {CLUSTERS_MAX} clusters can be looked at.")
            cluster = here.cluster(said_of(name, read_file(file_in(directory, name))["said"]))
            clusters[name] = replace(cluster, values={**cluster.values, "IS_ADDED": True})
        except (ClustersError, FileError, SystemExit) as error:
            left_out[name] = str(error)
    return Added(clusters, left_out)
