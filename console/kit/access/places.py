"""Pages and actions by their names, and for whom they are. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from console.kit.access.reach import Reach, Resource
from console.kit.access.roles import Right


@dataclass(frozen=True, slots=True)
class PagePlace:
    """`words` are found, too, but not shown. `resource`: `right` is needed on one of these; None: on the cluster."""

    title: str
    route: str
    words: str = ""
    resource: Resource | None = None
    right: Right = Right.VIEW
    #: What it shows names whatever there is.
    names_all: bool = False
    #: The route behind whose place it is listed (`console/kit/features/order.py`).
    after: str = ""

    @property
    def key(self) -> str:
        return self.route

    def is_for(self, reach: Reach) -> bool:
        if self.names_all and not reach.sees_all_names:
            return False
        if self.resource is None:
            return self.right in (reach.role if self.right is not Right.VIEW else reach.rights_anywhere)
        return self.right in reach.rights_somewhere(self.resource)

    def matches(self, words: Iterable[str]) -> bool:
        text = f"{self.title} {self.words}".lower()
        return all(word in text for word in words)
