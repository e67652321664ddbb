"""Settings with nothing set but where the data lies."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

REPORT = """
import json
from django.conf import settings
print(json.dumps({
    "redis": settings.CHANNEL_LAYERS["default"]["CONFIG"]["hosts"][0],
    "celery": settings.CELERY_BROKER_URL,
    "hosts": settings.ALLOWED_HOSTS,
    "debug": settings.DEBUG,
    "key": settings.SECRET_KEY,
    "database": settings.DATABASES["default"]["NAME"],
}))
"""


def settings_in(data: Path) -> dict:
    environment = {"PATH": os.environ["PATH"], "BARNABAS_DATA": str(data), "DJANGO_SETTINGS_MODULE": "console.settings"}
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
    assert first["database"] == str(data / "console.sqlite3")
    assert (data / "secrets").stat().st_mode & 0o777 == 0o700
    assert (data / "secrets" / "django-secret-key").stat().st_mode & 0o777 == 0o600
    assert settings_in(data)["key"] == first["key"]
