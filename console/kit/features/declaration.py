"""The parts of a feature's declaration. Data only: the settings import it before Django can import a model or a view.

A dotted name stands for what is imported when it is first used. An entry's `after` names the entry of another feature
that it is listed behind; `console/kit/features/order.py` has the rule.
"""

from dataclasses import dataclass
from enum import StrEnum


class Database(StrEnum):
    """Which database holds an app's rows: the console's own, or that of each cluster."""

    CONSOLE = "console"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of one module of routes below `prefix`, for example `topics/`; an empty prefix is the top."""

    prefix: str
    module: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature of the console.

    A feature with `database` is an app; `is_app` makes an app of one without rows, for its commands, its schedule or
    its `apps.py`. Each template library is a module in the package's `templatetags`.
    """

    package: str
    is_app: bool = False
    database: Database | None = None
    addresses: tuple[Addresses, ...] = ()
    template_libraries: tuple[str, ...] = ()

    @property
    def app_label(self) -> str:
        return self.package.rpartition(".")[2]
