"""Reads and writes ledger.toml: by the version of Python, the bytecodes of each entry."""

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

LEDGER = Path(__file__).parent / "ledger.toml"
#: A cost may differ by so much from the ledger's before the gate says so.
TOLERANCE = 0.02


def python_version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def read_ledger() -> dict[str, dict[str, int]]:
    return tomllib.loads(LEDGER.read_text()) if LEDGER.exists() else {}


def write_ledger(costs: Mapping[str, int]) -> None:
    """Write the costs under this version of Python; those of other versions stay."""
    ledger = read_ledger() | {python_version(): dict(costs)}
    lines = ["# Bytecodes of all brokers for one request: python -m tests.bench.ledger --record"]
    for version, entries in sorted(ledger.items()):
        lines += ["", f'["{version}"]', *(f'"{name}" = {cost}' for name, cost in entries.items())]
    LEDGER.write_text("\n".join(lines) + "\n")


def changes(known: Mapping[str, int], costs: Mapping[str, int]) -> dict[str, str]:
    """Return the entries whose cost is not the ledger's within the tolerance, with both."""
    return {
        name: f"{known.get(name, 0):,} → {cost:,}"
        for name, cost in costs.items()
        if abs(cost - known.get(name, 0)) > TOLERANCE * known.get(name, 0)
    }
