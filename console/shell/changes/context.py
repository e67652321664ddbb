"""The count of waiting changes beside their page's name, on every page of who may decide about one."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from console.kit.access.rights import Right, reach_of
from console.shell.changes.queries import count_for


def waiting(request: HttpRequest) -> dict[str, object]:
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or Right.OPERATE not in reach_of(user).rights_anywhere:
        return {}
    return {"may_decide_changes": True, "waiting_changes": SimpleLazyObject(lambda: count_for(user))}
