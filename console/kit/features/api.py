"""What of a feature programs can read and change: its pages' tables and plans, by the names that the API has for them.

An action's parameters are what the page's form asks for, by the same names. A plan is shown by a page that is asked
with a query or posted to with a form, and confirmed by posting to that page or to another.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ApiRead:
    """`page`: the route of the page whose table it is; what stands in its path between < and > is part of ours, too.

    `chosen`: query the page needs to show this table of several.
    """

    path: str
    page: str
    summary: str
    chosen: tuple[tuple[str, str], ...] = ()
    scope: str = "read"
    after: str = ""
    #: The collector's tier that reads the rows: `topics` (of brokers and partitions, too), `groups`, or none.
    tier: str = ""

    @property
    def key(self) -> str:
        return self.path

    @property
    def parameters(self) -> list[str]:
        """Return the parameters of the path."""
        return re.findall(r"{(?:\w+:)?(\w+)}", self.path)


@dataclass(frozen=True, slots=True)
class ApiAction:
    """`path`, `query` and `form`: parameters of the page; a name that ends with * stands for all that begin so.

    `confirms`: the route that is posted to with the digest, where it is not `page`. `is_at_once`: it changes so little
    that it has no plan.
    """

    name: str
    page: str
    summary: str
    path: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    confirms: str = ""
    is_at_once: bool = False
    after: str = ""

    @property
    def key(self) -> str:
        return self.name

    @property
    def route(self) -> str:
        return self.confirms or self.page

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*self.path, *self.query, *self.form)

    @property
    def described(self) -> dict[str, object]:
        return {
            "name": self.name,
            "summary": self.summary,
            "parameters": list(self.parameters),
            "needs_plan": not self.is_at_once,
        }
