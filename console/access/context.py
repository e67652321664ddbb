"""What templates may ask about the person in front of them. It decides what is drawn; views decide what is allowed."""

from django.http import HttpRequest

from console.access.rights import Right, reach_of, rights_here


def rights(request: HttpRequest) -> dict:
    if not hasattr(request, "user"):
        return {}
    held = rights_here(request.user)
    return {
        "can_view": Right.VIEW in held,
        "can_operate": Right.OPERATE in held,
        "can_administer": Right.ADMINISTER in reach_of(request.user).role,
    }
