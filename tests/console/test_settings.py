"""Settings with nothing set but where the data lies."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

ROOT = Path(__file__).resolve().parents[2]

REPORT = """
import json
from django.conf import settings
print(json.dumps({
    "redis": settings.CHANNEL_LAYERS["default"]["CONFIG"]["hosts"][0],
    "celery": settings.CELERY_BROKER_URL,
    "hosts": settings.ALLOWED_HOSTS,
    "debug": settings.DEBUG,
    "key": str(settings.SECRET_KEY),
    "database": settings.DATABASES["default"]["NAME"],
    "reading": [settings.READ_BUDGET, settings.READ_BUDGET_PER_PERSON],
}))
"""


def settings_in(data: Path, **variables: str) -> dict:
    environment = {"PATH": os.environ["PATH"], "BARNABAS_DATA": str(data), "DJANGO_SETTINGS_MODULE": "console.settings"}
    environment |= variables
    answer = subprocess.run(
        [sys.executable, "-c", REPORT],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(answer.stdout)


def test_an_empty_environment_gives_a_closed_console_that_keeps_its_key(tmp_path):
    data = tmp_path / "data"
    first = settings_in(data)

    assert first["redis"] == f"unix://{data}/run/redis.sock"
    assert first["celery"] == f"redis+socket://{data}/run/redis.sock?virtual_host=0"
    assert first["hosts"] == ["127.0.0.1", "localhost"]
    assert first["debug"] is False
    assert first["database"] == f"file:{data / 'console.sqlite3'}?mode=rw"
    assert (data / "secrets").stat().st_mode & 0o777 == 0o700
    assert (data / "secrets" / "django-secret-key").stat().st_mode & 0o777 == 0o600
    assert settings_in(data)["key"] == first["key"]


def manage(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        timeout=60,
        umask=0o022,
    )


def test_what_people_read_is_bounded_and_each_may_read_half_unless_it_is_said(tmp_path):
    assert settings_in(tmp_path)["reading"] == [20_000_000, 10_000_000]
    assert settings_in(tmp_path, BARNABAS_READ_BUDGET="0.5")["reading"] == [500_000, 250_000]
    assert settings_in(tmp_path, BARNABAS_READ_BUDGET_PER_PERSON="0")["reading"] == [20_000_000, 0]


def test_what_the_console_keeps_is_for_its_owner_only(tmp_path):
    data = tmp_path / "data"
    assert manage("migrate", "--verbosity=0", BARNABAS_DATA=str(data)).returncode == 0

    modes = {path.name: path.stat().st_mode & 0o777 for path in (data, *data.iterdir())}
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("BARNABAS_DATA", "/tmp/one,two", "BARNABAS_DATA=/tmp/one,two: a path with a comma cannot be used"),
        ("BARNABAS_CONSOLE_PORT", "eighty", "BARNABAS_CONSOLE_PORT=eighty must be a number from 1 to 65535"),
        ("BARNABAS_CONSOLE_PORT", "80800", "BARNABAS_CONSOLE_PORT=80800 must be a number from 1 to 65535"),
        ("BARNABAS_TLS_PROXY", "maybe", "BARNABAS_TLS_PROXY=maybe must be 1 or 0"),
        ("BARNABAS_READ_BUDGET", "lots", "BARNABAS_READ_BUDGET=lots must be a number of MB, 0 for no limit"),
    ],
)
def test_setting_that_cannot_be_right_is_one_sentence(tmp_path, variable, value, sentence):
    answer = manage("check", **{"BARNABAS_DATA": str(tmp_path / "data"), variable: value})

    assert answer.returncode == 1
    assert sentence in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("command", ["up", "migrate", "collect"])
def test_data_that_cannot_be_kept_is_one_sentence(command):
    answer = manage(command, BARNABAS_DATA="/proc/no-place-for-data")

    assert answer.returncode == 1
    assert "BARNABAS_DATA=/proc/no-place-for-data cannot be used" in answer.stderr
    assert "Traceback" not in answer.stderr


LONG = [("help", "up"), ("version",), ("showmigrations",), ("makemigrations", "--check"), ("no-such-command",)]


@pytest.mark.parametrize(
    "arguments",
    [
        ("help",),
        ("check",),
        ("down",),
        ("verify_audit",),
        *(pytest.param(item, marks=pytest.mark.long) for item in LONG),
    ],
)
def test_who_only_asks_leaves_nothing_behind(tmp_path, arguments):
    manage(*arguments, BARNABAS_DATA=str(tmp_path / "data"))

    assert list(tmp_path.iterdir()) == []


def test_data_may_lie_where_no_address_could_point(tmp_path):
    """`#`, `?` and `%` have a meaning in addresses; a directory may have them in its name."""
    data = tmp_path / "no 1 #? 50%41"
    kept = settings_in(data)

    assert kept["database"] == f"file:{quote(str(data / 'console.sqlite3'))}?mode=rw"
    assert not set(kept["redis"].removeprefix("unix://")) & set("#?%")


def test_a_database_named_by_a_relative_path_is_one_file_wherever_a_process_works(tmp_path):
    data = tmp_path / "data"
    kept = settings_in(data, BARNABAS_DATABASE_URL="sqlite:///other.sqlite3")

    assert kept["database"] == str(data / "other.sqlite3")
