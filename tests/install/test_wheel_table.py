"""Every supported Python installs every locked package on x86_64 and aarch64 without a compiler."""

import importlib.metadata
import re
import tomllib

import pytest
from packaging.specifiers import SpecifierSet

from tests.tidy.sources import ROOT
from tests.wheel_table import (
    PYTHONS,
    SOURCE_ONLY,
    TABLE,
    TARGETS,
    WheelRow,
    missing_wheels,
    read_lock,
    read_table,
    rows_of,
)

LOCKS = ("requirements.lock", "tests/requirements.lock")
_DIGESTS = ("1" * 64, "2" * 64)
_LOCK = """\
fast==2.0 ; python_full_version >= '3.12' \\
    --hash=sha256:{} \\
    --hash=sha256:{}
    # via barnabas (pyproject.toml)
""".format(*_DIGESTS)


@pytest.fixture(scope="module")
def rows() -> list[WheelRow]:
    return read_table((ROOT / TABLE).read_text())


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_a_wheel_for_every_supported_python_and_machine(lock, rows):
    packages = read_lock((ROOT / lock).read_text())
    assert len(packages) > 80
    assert all(package.hashes for package in packages)
    assert missing_wheels([package for package in packages if package.name not in SOURCE_ONLY], rows) == []


def test_what_is_listed_as_source_only_has_no_wheel(rows):
    assert not SOURCE_ONLY & {row.name for row in rows}


def test_the_table_holds_wheels_of_the_lock_and_no_others(rows):
    hashes = {(package.name, package.version): package.hashes for package in read_lock((ROOT / LOCKS[1]).read_text())}
    stale = [row for row in rows if not any(digest.startswith(row.hash) for digest in hashes[row.name, row.version])]
    assert stale == []


def test_the_supported_pythons_are_those_that_the_package_declares():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = SpecifierSet(project["requires-python"])
    assert [minor for minor in range(30) if f"3.{minor}.5" in declared] == [minor for _, minor in PYTHONS]


def test_no_installed_dependency_refuses_a_supported_python():
    """By the metadata of what is installed here: an upper bound would fail on a newer Python only."""
    names = {re.sub(r"[-_.]+", "-", package.name) for package in read_lock((ROOT / LOCKS[1]).read_text())}
    installed = [
        distribution.metadata for distribution in importlib.metadata.distributions() if distribution.metadata["Name"]
    ]
    bounds = {metadata["Name"]: metadata.get("Requires-Python") or "" for metadata in installed}
    locked = {name: bound for name, bound in bounds.items() if re.sub(r"[-_.]+", "-", name).lower() in names}
    assert len(locked) > 80
    newer = [f"3.{minor}.5" for _, minor in PYTHONS[1:]]
    assert {name for name, bound in locked.items() for version in newer if version not in SpecifierSet(bound)} == set()


@pytest.mark.parametrize(
    ("tags", "digest", "without"),
    [
        ("py3-none-any", "1" * 16, set()),
        ("cp312-abi3-manylinux_2_28_x86_64.manylinux_2_28_aarch64", "2" * 16, set()),
        ("cp312-abi3-manylinux_2_28_x86_64", "1" * 16, {"aarch64"}),
        ("cp312-abi3-manylinux_2_34_x86_64", "1" * 16, {"x86_64", "aarch64"}),  # a newer C library than promised
        ("cp312-abi3-musllinux_1_2_x86_64", "1" * 16, {"x86_64", "aarch64"}),
        ("py3-none-any", "3" * 16, {"x86_64", "aarch64"}),  # a wheel that the lock's hashes refuse
    ],
)
def test_a_wheel_counts_if_the_target_and_the_lock_take_it(tags, digest, without):
    lacking = missing_wheels(read_lock(_LOCK), [WheelRow("fast", "2.0", tags, digest)])
    expected = [target for target in TARGETS if target.machine in without and target.python >= (3, 12)]
    assert lacking == [f"fast 2.0 has no wheel for {target}" for target in expected]


def test_a_python_without_a_wheel_is_named():
    row = WheelRow("fast", "2.0", "cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64", "1" * 16)
    lacking = missing_wheels(read_lock(_LOCK), [row])
    assert "fast 2.0 has no wheel for Python 3.13 on x86_64" in lacking
    assert "fast 2.0 has no wheel for Python 3.12 on x86_64" not in lacking
    assert not any("3.11" in sentence for sentence in lacking)  # the marker leaves it out


def test_the_table_is_made_of_the_wheels_that_a_target_takes():
    def wheel(file_name: str) -> dict:
        return {"url": f"https://index.example/{file_name}", "hashes": {"sha256": _DIGESTS[0]}}

    names = (
        "fast-2.0-py3-none-any.whl",
        "fast-2.0-cp312-cp312-win_amd64.whl",
        "fast-2.0-1-cp311-abi3-linux_armv7l.whl",
    )
    package = {"name": "fast", "version": "2.0", "wheels": [wheel(name) for name in names]}
    assert rows_of({"packages": [package, {"name": "slow", "version": "1"}]}) == [
        WheelRow("fast", "2.0", "py3-none-any", "1" * 16)
    ]
