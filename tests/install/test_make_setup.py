"""`make setup` where it cannot work: one sentence that says why, and no output of a compiler."""

import hashlib
import http.server
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pip
import pytest

from broker.install import LOG, SOURCE_ONLY, VENV_BYTES, InstallError, install, pip_complaint
from tests import wheel_table
from tests.tidy.sources import ROOT

_FILES = (
    "Makefile",
    "broker/__init__.py",
    "broker/install.py",
    "broker/common/__init__.py",
    "broker/common/supported.py",
)


@pytest.fixture
def checkout(tmp_path) -> Path:
    """What `make setup` reads, and a lock of one package."""
    for name in _FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "requirements.lock").write_text(f"fast==1.0 --hash=sha256:{'0' * 64}\n")
    return tmp_path


@pytest.fixture
def with_venv(checkout) -> Path:
    """The same with an environment that has the pip of this one: to put a pip into each takes seconds."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", checkout / ".venv"], check=True)
    (site,) = checkout.glob(".venv/lib/python*/site-packages")
    (site / "pip.pth").write_text(f"{Path(pip.__file__).parent.parent}\n")
    return checkout


@pytest.fixture
def index():
    """`index(files)`: the address of a package index with these files of `fast`; closed at the end."""
    servers = []

    def serve(files: dict[str, bytes]) -> str:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(files))
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/simple"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def _handler(files: dict[str, bytes]) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = files.get(self.path.rpartition("/")[2])
            if body is None and self.path == "/simple/fast/":
                body = "".join(f'<a href="/files/{name}">{name}</a>' for name in files).encode()
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def setup(checkout: Path, *words: str, **environment: str) -> str:
    """Return what `make setup` says; it has to fail."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE"))}
    options = {"PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1", "NO_PROXY": "*"}
    done = subprocess.run(
        ["make", "--no-print-directory", "setup", *words],
        cwd=checkout,
        env=usual | options | environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    (sentence,) = (line for line in done.stderr.splitlines() if not line.startswith("make"))
    return sentence


def program(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("version", ["3.10.13", "3.15.0"])
def test_another_python_is_refused_and_one_that_fits_is_named(checkout, version):
    other = program(checkout / "other", f'case "$1" in --version) echo Python {version};; *) exit 1;; esac')
    program(checkout / "python3.12", "exit 0")
    for name in ("python3.13", "python3.14"):
        program(checkout / name, "echo not installed >&2; exit 127")  # as shims of version managers do
    output = setup(checkout, f"PYTHON={other}", PATH=f"{checkout}:/usr/bin:/bin")
    assert output == (
        f"Barnabas needs Python 3.11 to 3.14; {other} is Python {version}. "
        "Next: delete .venv and type: make PYTHON=python3.12 setup"
    )


def test_no_python_at_all_is_a_sentence_too(checkout):
    for name in ("python3.11", "python3.12", "python3.13", "python3.14"):
        program(checkout / name, "exit 127")
    output = setup(checkout, f"PYTHON={checkout}/none", PATH=f"{checkout}:/usr/bin:/bin")
    assert f"{checkout}/none is none. Next: install one of these" in output


@pytest.mark.parametrize(
    "venv", ["raise ModuleNotFoundError(\"No module named 'venv'\")", 'raise SystemExit("ensurepip is not available")']
)
def test_a_python_without_venv_says_which_package_brings_it(checkout, venv):
    """As Debian ships it without python3-venv; a module in the place of the standard library's plays it."""
    (checkout / "venv.py").write_text(venv)
    assert "has no pip and venv; on Debian and Ubuntu install python3-venv" in setup(checkout)
    assert not (checkout / ".venv").exists()


def test_a_disk_without_room_is_refused_before_anything_is_downloaded(checkout, monkeypatch):
    usage = shutil.disk_usage(checkout)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=VENV_BYTES - 1))
    with pytest.raises(InstallError, match="No space is left"):
        install(checkout / ".venv", checkout / "requirements.lock")
    assert not (checkout / ".venv").exists()


def test_an_environment_without_pip_says_so(checkout):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", checkout / ".venv"], check=True)
    assert "has no pip and venv" in setup(checkout)


def test_an_index_that_cannot_be_reached_says_so(with_venv):
    output = setup(with_venv, PIP_INDEX_URL="http://127.0.0.1:9/simple")
    assert output.startswith("The package index cannot be reached;")
    assert output.endswith(f"All that pip did is in .venv/{LOG}.")


def test_a_package_without_a_wheel_is_named_and_not_compiled(with_venv, index):
    output = setup(
        with_venv, PIP_INDEX_URL=index({"fast-1.0.tar.gz": b"", "fast-1.0-cp39-cp39-musllinux_1_2_armv7l.whl": b""})
    )
    assert output.startswith("fast==1.0 has no wheel for Python {}.{} on this machine.".format(*sys.version_info))


def test_a_package_that_the_index_does_not_have_is_named(with_venv, index):
    assert setup(with_venv, PIP_INDEX_URL=index({})).startswith("The package index does not have fast==1.0;")


def test_a_package_that_is_not_the_lock_s_is_refused(with_venv, index):
    output = setup(with_venv, PIP_INDEX_URL=index({"fast-1.0-py3-none-any.whl": b"other"}))
    assert output.startswith("A downloaded package is not the one of requirements.lock;")


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "No space is left"),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/x'",
            "cannot be written",
        ),
        ("x SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] …", "in PIP_CERT"),
        ("2026-01-01T00:00:00,001 ERROR: Something new", "The installation failed: Something new."),
        ("", "does not say why"),
    ],
)
def test_every_other_failure_is_a_sentence(output, words):
    complaint = pip_complaint(output, ".venv", "requirements.lock", "/tmp")
    assert words in complaint
    assert "\n" not in complaint


def test_what_may_be_built_from_source_is_what_the_table_of_wheels_leaves_out():
    assert set(SOURCE_ONLY) == wheel_table.SOURCE_ONLY


def test_a_lock_is_installed_once_for_each_python(with_venv, index):
    stamp = with_venv / ".venv/stamps/requirements.lock"
    stamp.parent.mkdir()
    digest = hashlib.sha256((with_venv / "requirements.lock").read_bytes()).hexdigest()
    stamp.write_text(f"{digest} (3, 9)\n")  # of the system before its upgrade
    assert "does not have fast==1.0" in setup(with_venv, PIP_INDEX_URL=index({}))
    stamp.write_text(f"{digest} {sys.version_info[:2]}\n")
    subprocess.run(["make", "setup"], cwd=with_venv, check=True, timeout=100)
