"""The parts of a feature's declaration. Data only: the settings import it before Django can import a model or a view.

A dotted name stands for what is imported when it is first used. An entry's `after` names the entry of another feature
that it is listed behind; `console/kit/features/order.py` has the rule.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from console.kit.access.reach import Resource


class Database(StrEnum):
    """Which database holds an app's rows: the console's own, or that of each cluster."""

    CONSOLE = "console"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of one module of routes below `prefix`, for example `topics/`; an empty prefix is the top."""

    prefix: str
    module: str


@dataclass(frozen=True, slots=True)
class PushedPage:
    """A page with a websocket, as `{% block live_page %}` of its template names it, and the channel groups it hears.

    A group that differs by right is a function of whether the person may operate. `of_name` makes the group of one
    object's page (`topic:orders`), or returns None for a name no object can have; `resource` is what that object is.
    `names_all`: only a person who sees all names may listen. `is_only_news`: the groups carry no names, so everybody
    may hear them. `sorted_rows` is the kind of row by whose figures the page may be sorted.
    """

    name: str
    groups: tuple[str | Callable[[bool], str], ...] = ()
    of_name: Callable[[str], str | None] | None = None
    resource: Resource | None = None
    names_all: bool = False
    is_only_news: bool = False
    sorted_rows: str = ""


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of row that pages show, with the element id `<name>-<primary key>`.

    `renderer` is the dotted name of a `Renderer` (`console/kit/live/rows.py`).
    """

    name: str
    renderer: str


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
    pushed_pages: tuple[PushedPage, ...] = ()
    row_kinds: tuple[RowKind, ...] = ()

    @property
    def app_label(self) -> str:
        return self.package.rpartition(".")[2]
