"""A Debian of a test's own in a folder: Python, venv, make and git, as a newcomer has them, and no compiler.

with running_debian(directory) as debian:
    debian.run("make --version")

What is mounted and started in it is in namespaces of its own, which end with it.
"""

import ast
import contextlib
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.barnabas_cluster import await_true

SUITE = "trixie"
PACKAGES = "python3,python3-venv,make,git"
HOME = "/home/person"
USER = "1000:1000"
_DEFAULT_MIRROR = "http://deb.debian.org/debian"
_BOOTSTRAP_S = 1_200
#: How pip reaches the index, besides its own configuration.
_NETWORK_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
#: Of the machine, at the same path inside: names of hosts, and what pip's configuration names (`$@`).
_MOUNT = """
set -e
root=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for path; do
  if [ -d "$path" ]; then mkdir -p "$root$path"; else mkdir -p "$root$(dirname "$path")"; touch "$root$path"; fi
  mount --bind "$path" "$root$path"
done
exec chroot "$root" sleep infinity
"""

needs_debootstrap = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("debootstrap", path=f"{os.environ.get('PATH', '')}:/usr/sbin"),
    reason="a Debian in a folder needs root and debootstrap",
)


@dataclass(frozen=True)
class Debian:
    root: Path
    enter: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def home(self) -> Path:
        return self.root / HOME.removeprefix("/")

    def command(self, script: str, environment: Mapping[str, str]) -> list[str]:
        """A shell's script at home of an ordinary user, who has nothing of the test's environment."""
        usual = {"HOME": HOME, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        variables = [f"{name}={value}" for name, value in {**usual, **self.environment, **environment}.items()]
        inside = ["env", "-i", *variables, "sh", "-c", f"cd {HOME} && {script}"]
        return [*self.enter, "chroot", f"--userspec={USER}", str(self.root), *inside]

    def run(self, script: str, timeout_s: float = 60, **environment: str) -> str:
        """Return what the script prints. Raise AssertionError with all of it if it fails."""
        done = subprocess.run(
            self.command(script, environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, f"{script}: {done.stdout}"
        return done.stdout

    def processes(self) -> list[str]:
        """Return the command lines of all processes in it but the one that holds its namespaces."""
        lines = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (place / "root").readlink() == self.root:
                    lines.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip())
        return sorted(line for line in lines if line != "sleep infinity")


@contextlib.contextmanager
def running_debian(directory: Path) -> Iterator[Debian]:
    """Skip the test where Debian's mirror is not reached."""
    root = directory / SUITE
    try:
        _bootstrap(root)
        yield from _running(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _running(root: Path) -> Iterator[Debian]:
    environment = pip_environment() | {
        name: os.environ[name]
        for variable in _NETWORK_VARIABLES
        for name in (variable, variable.lower())
        if name in os.environ
    }
    paths = {path for value in environment.values() for path in value.split() if path.startswith("/")}
    shared = sorted(path for path in {"/etc/hosts", "/etc/resolv.conf", *paths} if Path(path).exists())
    holder = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _MOUNT, "sh", str(root), *shared],
        stdin=subprocess.DEVNULL,
    )
    children = Path(f"/proc/{holder.pid}/task/{holder.pid}/children")
    try:
        await_true(lambda: holder.poll() is not None or _sleeps(children.read_text().strip()), "the namespaces")
        first = children.read_text().strip()
        yield Debian(root, ("nsenter", "--target", first, "--pid", "--mount"), environment)
    finally:
        holder.kill()
        holder.wait()
        await_true(lambda: not Debian(root, (), {}).processes(), "everything in it ended")


def _sleeps(pid: str) -> bool:
    """Everything is mounted by then."""
    return bool(pid) and Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep")


def _bootstrap(root: Path) -> None:
    mirror = mirror_of_apt() or _DEFAULT_MIRROR
    try:
        with urllib.request.urlopen(f"{mirror}/dists/{SUITE}/Release", timeout=20):
            pass
    except OSError as error:
        pytest.skip(f"Debian's mirror is not reached: {error}")
    settings = root / "etc" / "dpkg" / "dpkg.cfg.d"
    settings.mkdir(parents=True)
    (settings / "of-a-test").write_text("force-unsafe-io\n")
    environment = os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}
    command = ["unshare", "--mount", "debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root)]
    done = subprocess.run(
        [*command, mirror], env=environment, capture_output=True, text=True, timeout=_BOOTSTRAP_S, check=False
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    subprocess.run(["chroot", root, "useradd", "--create-home", "--uid", "1000", "person"], check=True)


def mirror_of_apt() -> str | None:
    """Return the address of Debian's archive in apt's sources; None if apt has none, or is not here."""
    shape = "$(ORIGIN)|$(LABEL)|$(REPO_URI)"
    command = ["apt-get", "indextargets", "--format", shape, "Created-By: Packages"]
    with contextlib.suppress(FileNotFoundError):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        lines = (line.split("|") for line in done.stdout.splitlines())
        return next((uri.rstrip("/") for origin, label, uri in lines if origin == label == "Debian"), None)
    return None


def pip_environment() -> dict[str, str]:
    """Return pip's configuration here, of files and environment, as environment variables."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    lines = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    settings = (line.partition("=") for line in lines if "=" in line)
    return {
        f"PIP_{key.rpartition('.')[2].upper().replace('-', '_')}": " ".join(str(ast.literal_eval(value)).split())
        for key, _, value in settings
    }
