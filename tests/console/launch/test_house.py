"""What goes wrong in the house costs a sentence, not the rest of the house."""

import io

import pytest
from django.db import OperationalError

from console.launch import house
from console.launch.house import House, end_services
from console.launch.interrupts import Interrupts
from console.launch.progress import Progress
from console.processes.setup import SetupError, read_setup
from tests.console.launch.conftest import service


def refuse(*_args, **_options):
    raise OperationalError("database or disk is full")


@pytest.fixture
def out() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def small_house(directories, out):
    small = House(read_setup({}, ""), Progress(out), Interrupts())
    yield small
    end_services(small.progress, lambda: True)


def test_database_that_fails_keeps_no_service_up(small_house, out, monkeypatch):
    monkeypatch.setattr(house, "processes_of_host", refuse)
    small_house.supervisor.start(service("web"))
    small_house.close()
    assert not small_house.supervisor.is_alive("web")
    assert "database or disk is full" in out.getvalue()
    assert "make down" in out.getvalue()


def test_database_that_cannot_be_used_is_one_sentence(small_house, monkeypatch):
    monkeypatch.setattr(house, "call_command", refuse)
    with pytest.raises(SetupError, match="The database cannot be used: database or disk is full"):
        small_house.open()
