"""Where this code lies, in a checkout or installed from a wheel, and what follows from it."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

CODE_DIR = Path(__file__).resolve().parents[2]
#: In the environment of a process that the console runs, and would start again: what it is known by.
RUN_TOKEN_VARIABLE = "BARNABAS_RUN_TOKEN"
#: A wheel brings no manage.py.
IS_CHECKOUT = (CODE_DIR / "manage.py").is_file()


def default_data_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the data directory if BARNABAS_DATA names none: a checkout's data/, else the user's by the XDG base
    directory specification, which ignores a relative XDG_DATA_HOME.
    """
    if IS_CHECKOUT:
        return CODE_DIR / "data"
    named = Path(environment.get("XDG_DATA_HOME", ""))
    return (named if named.is_absolute() else Path.home() / ".local" / "share") / "barnabas"


def jobs_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the absolute directory where an administrator puts stream jobs."""
    data = environment.get("BARNABAS_DATA") or default_data_dir(environment)
    return Path(environment.get("BARNABAS_JOBS") or Path(data) / "jobs").expanduser().resolve()


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command line of another process of ours. A folder `broker` where it starts is not taken for ours
    (`-P`).
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def with_code_path(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` with the path of this code, so that Python can import it from any directory. Installed code
    needs none.
    """
    known = environment.get("PYTHONPATH", "")
    if not IS_CHECKOUT or str(CODE_DIR) in known.split(os.pathsep):
        return dict(environment)
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, (str(CODE_DIR), known)))}


def install_command(extra: str) -> str:
    """Return the command that installs a part; a checkout always installs all parts."""
    return "make setup" if IS_CHECKOUT else f"{sys.executable} -m pip install 'barnabas[{extra}]'"


def import_failure(error: ImportError) -> str | None:
    """Return one sentence for a package that this code needs and cannot import; None if the module is one of ours."""
    from broker.common.extras import part_of_import  # no process that runs carries either
    from broker.common.supported import import_complaint, this_host

    repair = "make setup" if IS_CHECKOUT else f"{sys.executable} -m pip install --force-reinstall barnabas"
    return part_of_import(error) or import_complaint(error, this_host(), repair)
