"""Who may decide about changes sees their page, and how many wait for a decision."""

from django.http import HttpRequest

from console.kit.access.rights import Right, reach_of


def waiting(request: HttpRequest) -> dict[str, object]:
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or Right.OPERATE not in reach_of(user).rights_anywhere:
        return {}
    return {"may_decide_changes": True}
