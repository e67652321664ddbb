"""Which Python and which machine Barnabas is installed on, and the sentence for every other."""

import platform
import subprocess
import sys
from dataclasses import replace

import pytest

from broker.common.supported import NEWEST_PYTHON, OLDEST_PYTHON, Host, host_complaint, import_complaint, this_host
from tests.tidy.sources import ROOT
from tests.wheel_table import GLIBC, MACHINES, PYTHONS

DEBIAN = Host("Linux", "x86_64", True, (2, 41), (3, 13), True, "/usr/bin/python3")


@pytest.mark.parametrize("change", [{}, {"machine": "aarch64"}, {"glibc": (2, 28)}, {"python": (3, 11)}])
def test_a_supported_host_has_no_complaint(change):
    assert host_complaint(replace(DEBIAN, **change)) is None


def test_this_host_is_described_as_it_is():
    host = this_host()
    assert (host.machine, host.python, host.executable) == (platform.machine(), sys.version_info[:2], sys.executable)
    assert host_complaint(host) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"system": "Darwin"}, "this system is Darwin"),
        ({"python": (3, 10)}, "needs Python 3.11 to 3.14; /usr/bin/python3 is Python 3.10"),
        ({"python": (3, 15)}, "needs Python 3.11 to 3.14; /usr/bin/python3 is Python 3.15"),
        ({"has_gil": False}, "free-threaded"),
        ({"machine": "armv7l", "is_64_bit": False}, "this machine is armv7l (32 bit)"),
        ({"is_64_bit": False}, "this machine is x86_64 (32 bit)"),
        ({"machine": "riscv64"}, "this machine is riscv64"),
        ({"glibc": None}, "musl"),
        ({"glibc": (2, 27)}, "need glibc 2.28 or newer; here is 2.27"),
    ],
)
def test_each_host_without_wheels_gets_one_sentence_that_names_why(change, words):
    complaint = host_complaint(replace(DEBIAN, **change))
    assert words in complaint
    assert "\n" not in complaint


def test_what_is_promised_is_what_the_table_of_wheels_is_checked_for():
    from broker.common import supported

    assert (supported.MACHINES, supported.OLDEST_GLIBC) == (MACHINES, GLIBC)
    assert (PYTHONS[0], PYTHONS[-1]) == (OLDEST_PYTHON, NEWEST_PYTHON)


def test_a_package_that_is_not_installed_is_named_with_the_command_that_installs_it():
    complaint = import_complaint(ModuleNotFoundError("No module named 'kazoo'", name="kazoo"), DEBIAN, "make setup")
    assert "package kazoo cannot be imported" in complaint
    assert complaint.endswith("make setup")


def test_a_package_that_does_not_load_here_is_explained_by_the_host():
    error = ImportError("version `GLIBC_2.28' not found", name="uvloop.loop")
    assert "here is 2.27" in import_complaint(error, replace(DEBIAN, glibc=(2, 27)), "make setup")


def test_a_module_of_ours_that_is_missing_is_a_defect_and_no_sentence():
    assert import_complaint(ModuleNotFoundError("…", name="broker.cli.gone"), DEBIAN, "make setup") is None
    assert import_complaint(ImportError("cannot import name 'x'"), DEBIAN, "make setup") is None


@pytest.mark.parametrize("command", [["broker", "server"], ["console", "check"]])
def test_a_command_without_its_packages_ends_with_a_sentence(command):
    """Isolated from every site-packages: only the standard library and this code are there."""
    path = f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv = {command!r}; "
    run = "import runpy; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", path + run], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 78, done.stderr
    assert "cannot be imported" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
