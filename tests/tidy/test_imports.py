"""Which room may import which: the contracts in pyproject.toml hold, and light processes stay light."""

import subprocess
import sys

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


def test_a_broker_loads_nothing_that_speaks_http_or_mail():
    """Three brokers would have each of them three times."""
    heavy = "{'email', 'html', 'http.client', 'http.server', 'importlib.metadata', 'urllib.request', 'zipfile'}"
    code = f"import sys, broker.cli.server; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
