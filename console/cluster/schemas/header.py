"""What the header of a subject's page tells of it."""

from console.cluster.schemas.queries import SubjectView
from console.kit.access.reach import Reach
from console.kit.common.figures import grouped
from console.kit.features.headers import HeaderFacts, KeyFigure

_DELETE, _RESTORE, _FOR_GOOD = "Delete subject…", "Restore…", "Delete for good…"


def facts(view: SubjectView, _reach: Reach) -> HeaderFacts:
    """Return the facts of the subject, as the registry tells them."""
    return HeaderFacts(
        name=view.name,
        word="deleted" if view.is_deleted else "in use",
        tone="warning" if view.is_deleted else "ok",
        figures=(
            KeyFigure("Versions", grouped(len(view.versions)), "versions"),
            KeyFigure("Type", view.comparison.new.type.capitalize(), "type"),
            KeyFigure("Compatibility", view.level or f"{view.default_level} (default)", "compatibility"),
        ),
        main="New version…",
        without=frozenset({_DELETE} if view.is_deleted else {_RESTORE, _FOR_GOOD}),
    )
