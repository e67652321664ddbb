"""A run directory of the test's own, and services that end with it."""

import logging
import sys
from pathlib import Path

import pytest
from django.conf import settings

from console.processes.run_files import run_file_names
from console.shell.launch.service import Service
from console.shell.launch.supervisor import Supervisor, end_service

SLEEPER = "import time; time.sleep(60)"


@pytest.fixture(autouse=True)
def _log_level_of_its_own():
    """`up` and `down` make the console's logs quiet for their terminal; here that ends with the test."""
    logger = logging.getLogger("console")
    before = logger.level
    yield
    logger.setLevel(before)


@pytest.fixture
def directories(settings, tmp_path) -> Path:
    for name in ("RUN_DIR", "LOG_DIR", "SECRETS_DIR"):
        setattr(settings, name, tmp_path / name.lower())
        getattr(settings, name).mkdir(mode=0o700)
    settings.DATA_DIR = tmp_path
    return tmp_path


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def supervisor(directories, settings, clock):
    supervisor = Supervisor(settings.RUN_DIR / "services", {}, directories, clock)
    yield supervisor
    for name in run_file_names(supervisor.run_files):
        end_service(supervisor.run_files, name, 0, lambda: True)


def service(name: str = "web", code: str = SLEEPER) -> Service:
    return Service(name, [sys.executable, "-c", code], settings.LOG_DIR / f"{name}.log", grace_s=5)
