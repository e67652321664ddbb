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


_WEB = {"email", "html", "http.client", "http.server", "importlib.metadata", "urllib.request", "zipfile"}
_COMMAND_LINES = {"click", "multiprocessing"}


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        (["broker.cli.server"], _WEB | {"snappy"}),
        (["broker.cli.probe"], _WEB | {"snappy"}),
        (["broker.cli.registry", "broker.registry.process"], _COMMAND_LINES | {"httpx2", "urllib.request", "zipfile"}),
        (["broker.cli.connect_worker", "broker.connect.distributed"], _COMMAND_LINES | {"httpx2", "urllib.request"}),
    ],
    ids=["broker", "probe", "registry", "Connect worker"],
)
def test_no_process_loads_what_it_does_without(modules, heavy):
    """1 to 4 MB of each, and three brokers would have each of them three times."""
    code = f"import sys, {', '.join(modules)}; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
