"""Which room may import which: the contracts in pyproject.toml hold, and light processes stay light."""

import subprocess
import sys

import pytest

from tests.tidy.sources import ROOT


def test_import_contracts_are_kept():
    lint = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    done = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_broker_loads_no_spark_and_no_django():
    code = (
        "import sys, broker.cli.server; print(*{'pyspark', 'django', 'pyarrow', 'confluent_kafka'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


_OF_OTHERS = {"click", "httpx2", "joserfc", "multiprocessing", "psutil", "starlette", "uvicorn"}


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        (["broker.cli.server"], _OF_OTHERS),
        (["broker.cli.probe"], _OF_OTHERS),
        (["broker.cli.registry", "broker.registry.process"], {"httpx2", "jsonschema", "urllib.request", "zipfile"}),
        (["broker.cli.connect_worker", "broker.connect.distributed"], {"fastavro", "httpx2", "urllib.request"}),
    ],
    ids=["broker", "probe", "registry", "Connect worker"],
)
def test_no_process_loads_what_it_does_without(modules, heavy):
    """What a library is only at times needed for is imported then: each of these is a megabyte and more."""
    code = f"import sys, {', '.join(modules)}; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
