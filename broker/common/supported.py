"""What an installation needs of Python and the machine, and one sentence for each thing that is not there.

Only the standard library is imported: it is read before anything is installed.
"""

import os
import platform
import re
import sys
import sysconfig
from dataclasses import dataclass

OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 14)
MACHINES = ("x86_64", "aarch64")
#: The oldest C library for which the wheels are built.
OLDEST_GLIBC = (2, 28)
_OURS = ("broker", "console")


@dataclass(frozen=True)
class Host:
    """`glibc` is None with another C library (musl)."""

    system: str
    machine: str
    is_64_bit: bool
    glibc: tuple[int, int] | None
    python: tuple[int, int]
    has_gil: bool
    executable: str


def this_host() -> Host:
    return Host(
        system=platform.system(),
        machine=platform.machine(),
        is_64_bit=sys.maxsize > 2**32,
        glibc=_glibc(),
        python=sys.version_info[:2],
        has_gil=not sysconfig.get_config_var("Py_GIL_DISABLED"),
        executable=sys.executable,
    )


def _glibc() -> tuple[int, int] | None:
    try:
        version = re.fullmatch(r"glibc (\d+)\.(\d+).*", os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (ValueError, OSError):
        return None
    return (int(version[1]), int(version[2])) if version else None


def host_complaint(host: Host) -> str | None:
    """Return the sentence for the first thing that no wheel is built for, or None."""
    if host.system != "Linux":
        return f"Barnabas runs on Linux; this system is {host.system}."
    if not OLDEST_PYTHON <= host.python <= NEWEST_PYTHON:
        return (
            f"Barnabas needs Python {_dotted(OLDEST_PYTHON)} to {_dotted(NEWEST_PYTHON)}; "
            f"{host.executable} is Python {_dotted(host.python)}."
        )
    if not host.has_gil:
        return f"{host.executable} is a free-threaded Python, for which packages have no wheel; take the usual build."
    if host.machine not in MACHINES or not host.is_64_bit:
        bits = "" if host.is_64_bit else " (32 bit)"
        return f"Barnabas is installed on 64-bit x86_64 and aarch64; this machine is {host.machine}{bits}."
    if host.glibc is None:
        return (
            "The wheels of Barnabas need glibc; this system has another C library (musl?). Use Debian, Ubuntu or RHEL."
        )
    if host.glibc < OLDEST_GLIBC:
        return f"The wheels of Barnabas need glibc {_dotted(OLDEST_GLIBC)} or newer; here is {_dotted(host.glibc)}."
    return None


def import_complaint(error: ImportError, host: Host, repair: str) -> str | None:
    """Return the sentence for a package that is not installed or does not load; None if the module is one of ours.

    `repair` is the command that installs the packages again.
    """
    package = (error.name or "").partition(".")[0]
    if not package or package in _OURS:
        return None
    reason = host_complaint(host) or f"Install the packages again: {repair}"
    return f"The Python package {package} cannot be imported ({error}). {reason}"


def _dotted(version: tuple[int, int]) -> str:
    return "{}.{}".format(*version)
