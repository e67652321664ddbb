"""Which wheels an installation from the lock may take: `requirements.wheels`, written by `make lock`.

A lock names packages and hashes, and no file names: whether every supported Python gets a wheel, and so needs no
compiler, cannot be read from it. The table holds the tags and the start of the hash of each wheel for Linux, so that a
test without a network compares both.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

TABLE = Path("requirements.wheels")
#: Packages that the index has as source only. Each is plain Python: it is built without a compiler.
SOURCE_ONLY = frozenset({"pyspark"})
PYTHONS = ((3, 11), (3, 12), (3, 13), (3, 14))
MACHINES = ("x86_64", "aarch64")
#: The oldest C library whose systems get wheels: Debian 10, RHEL 8 and Ubuntu 20.04 have it or a newer one.
GLIBC = (2, 28)
_OLD_NAMES = {(2, 17): "manylinux2014", (2, 12): "manylinux2010", (2, 5): "manylinux1"}
_HASH_DIGITS = 16
_LOCKED = re.compile(r"^(?P<name>[\w.-]+)(?:\[[^]]*\])?==(?P<version>[^ ;\\]+)(?: *; *(?P<marker>[^\\]+))?")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Target:
    """A Python and a machine that an installation is promised for."""

    python: tuple[int, int]
    machine: str

    def __str__(self) -> str:
        return f"Python {self.python[0]}.{self.python[1]} on {self.machine}"

    def environment(self) -> dict[str, str]:
        """Of the first release of that Python, which needs the most backports."""
        version = "{}.{}".format(*self.python)
        return {
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "os_name": "posix",
            "sys_platform": "linux",
            "platform_system": "Linux",
            "platform_machine": self.machine,
            "python_version": version,
            "python_full_version": f"{version}.0",
        }

    def tags(self) -> frozenset[Tag]:
        platforms = list(_platforms(self.machine))
        interpreter = "cp{}{}".format(*self.python)
        own = cpython_tags(self.python, platforms=platforms)
        return frozenset((*own, *compatible_tags(self.python, interpreter, platforms)))


TARGETS = tuple(Target(python, machine) for python in PYTHONS for machine in MACHINES)


def _platforms(machine: str) -> Iterator[str]:
    for minor in range(GLIBC[1], 4, -1):
        yield f"manylinux_{GLIBC[0]}_{minor}_{machine}"
        if old := _OLD_NAMES.get((GLIBC[0], minor)):
            yield f"{old}_{machine}"


@dataclass(frozen=True)
class LockedPackage:
    name: str
    version: str
    marker: str
    hashes: set[str] = field(default_factory=set, compare=False)

    def is_for(self, target: Target) -> bool:
        return not self.marker or Marker(self.marker).evaluate(target.environment())


@dataclass(frozen=True)
class WheelRow:
    """One line of the table; `tags` as they stand in the wheel's file name."""

    name: str
    version: str
    tags: str
    hash: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} {self.tags} {self.hash}"

    @property
    def tag_set(self) -> frozenset[Tag]:
        return parse_wheel_filename(f"{self.name.replace('-', '_')}-1-{self.tags}.whl")[3]


def read_lock(text: str) -> list[LockedPackage]:
    """Parse the output of `uv pip compile --generate-hashes`: a name and version, and below it the hashes."""
    packages: list[LockedPackage] = []
    for line in text.splitlines():
        if match := _LOCKED.match(line):
            packages.append(LockedPackage(match["name"], match["version"], (match["marker"] or "").strip()))
        if hashes := _HASH.findall(line):
            packages[-1].hashes.update(hashes)
    return packages


def read_table(text: str) -> list[WheelRow]:
    """Parse what `main` has written. Raise TypeError for a line of another shape."""
    return [WheelRow(*line.split()) for line in text.splitlines()]


def missing_wheels(packages: Iterable[LockedPackage], rows: Iterable[WheelRow]) -> list[str]:
    """Return one sentence for each locked package and target without a wheel that the lock's hashes admit."""
    wheels: dict[tuple[str, str], list[WheelRow]] = {}
    for row in rows:
        wheels.setdefault((row.name, row.version), []).append(row)
    tags = {target: target.tags() for target in TARGETS}
    return [
        f"{package.name} {package.version} has no wheel for {target}"
        for package in packages
        for target in TARGETS
        if package.is_for(target)
        and not any(
            row.tag_set & tags[target] and any(digest.startswith(row.hash) for digest in package.hashes)
            for row in wheels.get((package.name, package.version), ())
        )
    ]


def rows_of(pylock: Mapping[str, Any]) -> list[WheelRow]:
    """Return the wheels of a lock in the format of PEP 751 that at least one target can install, sorted."""
    wanted = frozenset(tag for target in TARGETS for tag in target.tags())
    rows = []
    for package in pylock["packages"]:
        for wheel in package.get("wheels", ()):
            file_name = wheel.get("name") or wheel["url"].rpartition("/")[2]
            if parse_wheel_filename(file_name)[3] & wanted:
                tags = "-".join(file_name.removesuffix(".whl").rsplit("-", 3)[1:])
                rows.append(
                    WheelRow(package["name"], package["version"], tags, wheel["hashes"]["sha256"][:_HASH_DIGITS])
                )
    return sorted(rows, key=str)


def main(arguments: list[str]) -> int:
    """Write the table from a pylock.toml."""
    (path,) = arguments
    TABLE.write_text("".join(f"{row}\n" for row in rows_of(tomllib.loads(Path(path).read_text()))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
