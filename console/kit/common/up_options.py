"""The options of `up`: another way to set the environment variables of the same name, which win over the environment.

Settings are read from the environment when Django starts, so `python -m console` calls `environment_of` before that.
"""

import argparse
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

#: Option without its dashes: what it switches on. The variable of `demo` is BARNABAS_DEMO, which `make up DEMO=0` sets.
SWITCHES = {
    "secure": "TLS, logins and access lists for the brokers of this machine",
    "demo": "demo traffic and a stream job",
    "mirror": "a second small cluster, and a mirror there and back",
    "audit": "the message audit's counter",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add each switch as --NAME and --no-NAME, and --brokers, --data and --documents."""
    for name, meaning in SWITCHES.items():
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, help=f"{meaning} ({variable(name)})")
    parser.add_argument("--brokers", type=int, metavar="N", help="brokers on this machine (BARNABAS_BROKERS)")
    parser.add_argument("--data", type=Path, metavar="DIRECTORY", help="directory of all data (BARNABAS_DATA)")
    parser.add_argument(
        "--documents", type=Path, nargs="+", metavar="FILE", help="text files that become records (BARNABAS_DOCUMENTS)"
    )


def variable(name: str) -> str:
    return f"BARNABAS_{name.upper()}"


def environment_of(words: Sequence[str]) -> dict[str, str]:
    """Return the variables that the options in `words` set; other words are left to the command itself.

    Raise SystemExit, as argparse does, for a value that cannot be right.
    """
    parser = argparse.ArgumentParser(prog="barnabas up", add_help=False, allow_abbrev=False)
    add_options(parser)
    given = {name: value for name, value in vars(parser.parse_known_args(words)[0]).items() if value is not None}
    return {variable(name): _as_text(value) for name, value in given.items()}


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return shlex.join(map(str, value)) if isinstance(value, list) else str(value)


def switched_on(environment: Mapping[str, bool]) -> str:
    """Return one line: what runs beside the cluster, and by which option the rest would.

    `environment` has the state of each switch, by its name in SWITCHES.
    """
    on = [name for name in SWITCHES if environment[name]]
    off = [f"--{name}" for name in SWITCHES if not environment[name]]
    return " · ".join(filter(None, ["on: " + (", ".join(on) or "none"), "off: " + ", ".join(off) if off else ""]))
