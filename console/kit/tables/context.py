"""What templates know of the person's choices; asked of the database where a template asks."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from console.kit.common.zones import zone_name
from console.kit.tables.arrangement import arrangement_of
from console.kit.tables.queries import preference_of


def tables(request: HttpRequest) -> dict[str, object]:
    if not hasattr(request, "user"):
        return {}
    theme = request.COOKIES.get("barnabas_theme", "")
    return {
        "zone": zone_name(request),
        "theme": theme if theme in ("light", "dark") else "",
        "density": SimpleLazyObject(lambda: preference_of(request.user).density),
        "arrangement": SimpleLazyObject(lambda: arrangement_of(request)),
    }
