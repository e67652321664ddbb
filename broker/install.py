"""`python -m broker.install VENV LOCK`: what `make setup` does, with one sentence for each reason why it cannot.

Nothing is compiled: a package without a wheel for this Python is refused. Only the standard library is imported.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from broker.common.supported import host_complaint, this_host

#: Packages that the index has as source only. Each is plain Python: it is built without a compiler.
SOURCE_ONLY = ("pyspark",)
#: Of pip, all it has done; beside the packages.
LOG = "install.log"
#: What the environment takes, some 1.3 GB.
VENV_BYTES = 1_500_000_000
#: In this order: a full disk also leaves other lines behind.
_PIP_COMPLAINTS = (
    (r"\[Errno 28\]", "No space is left: the installation takes 1.5 GB in {venv}, and 1 GB in {temporary} meanwhile."),
    (r"\[Errno (?:13|30)\]", "A file cannot be written: {venv} belongs to another user, or lies on a read-only disk."),
    (
        r"DO NOT MATCH THE HASHES",
        "A downloaded package is not the one of {lock}; check the package index and its proxy.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED",
        "The certificate of the package index is not trusted; name the file of your authority in PIP_CERT.",
    ),
    (
        r"Could not fetch URL (?![^\n]*404 Client Error)|connection broken by|Max retries exceeded|Read timed out",
        "The package index cannot be reached; check the network, HTTPS_PROXY and `pip config list`.",
    ),
    (r"No sources permitted for", "{package} has no wheel for Python {python} on this machine."),
    (r"No matching distribution found", "The package index does not have {package}; check `pip config list`."),
    (
        r"No module named '?(?:pip|venv|ensurepip)|ensurepip is not available",
        "{python_path} has no pip and venv; on Debian and Ubuntu install python3-venv, then delete {venv}.",
    ),
)


def main(argv: list[str]) -> int:
    """Make the virtual environment if there is none, and install the lock unless that has been done."""
    venv, lock = argv
    try:
        if complaint := host_complaint(this_host()):
            raise InstallError(complaint)
        install(Path(venv), Path(lock))
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


class InstallError(Exception):
    """One sentence for a user of `make`."""


def install(venv: Path, lock: Path) -> None:
    """Raise InstallError. What was installed is remembered by the lock's hash and the Python, in VENV/stamps."""
    python = venv / "bin" / "python"
    if not python.exists():
        _make(venv, lock)
    stamp = venv / "stamps" / str(lock).replace("/", "-")
    wanted = f"{hashlib.sha256(lock.read_bytes()).hexdigest()} {sys.version_info[:2]}\n"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"installing from {lock} (about a minute) …", flush=True)
    log = venv / LOG
    log.unlink(missing_ok=True)
    options = ["--quiet", "--disable-pip-version-check", "--log", str(log), "--require-hashes"]
    kinds = ["--only-binary=:all:", f"--no-binary={','.join(SOURCE_ONLY)}"]
    _run([str(python), "-m", "pip", "install", *options, *kinds, "-r", str(lock)], venv, lock, log)
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(wanted)


def _make(venv: Path, lock: Path) -> None:
    """Make the environment under a lock. A partial one must not be used, and a full disk is detected before half an
    hour of downloads.
    """
    if shutil.disk_usage(venv.absolute().parent).free < VENV_BYTES:
        raise InstallError(pip_complaint("[Errno 28]", str(venv), str(lock), tempfile.gettempdir()))
    try:
        _run([sys.executable, "-m", "venv", "--clear", str(venv)], venv, lock, log=None)
    except BaseException:
        shutil.rmtree(venv, ignore_errors=True)
        raise


def _run(command: list[str], venv: Path, lock: Path, log: Path | None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    output = done.stdout + done.stderr
    if log is not None and log.exists():
        output += log.read_text(errors="replace")
    complaint = pip_complaint(output, str(venv), str(lock), tempfile.gettempdir())
    if log is not None and log.exists():
        raise InstallError(f"{complaint} All that pip did is in {log}.")
    raise InstallError(complaint)


def pip_complaint(output: str, venv: str, lock: str, temporary: str) -> str:
    """Return the sentence for what pip, or venv, has written before it failed."""
    package = re.search(r"No matching distribution found for (\S+)", output)
    words = {
        "venv": venv,
        "lock": lock,
        "temporary": temporary,
        "package": package[1] if package else "A package",
        "python": "{}.{}".format(*sys.version_info),
        "python_path": sys.executable,
    }
    for pattern, sentence in _PIP_COMPLAINTS:
        if re.search(pattern, output):
            return sentence.format(**words)
    errors = re.findall(r"^(?:\S+ )?(?:ERROR|Error): (.+)$", output, re.MULTILINE)
    return f"The installation failed: {errors[-1]}." if errors else "The installation failed and pip does not say why."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
