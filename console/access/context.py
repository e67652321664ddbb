"""What templates may ask about the person in front of them. It decides what is drawn; views decide what is allowed."""

from django.http import HttpRequest

from console.access.rights import Right, rights_of


def rights(request: HttpRequest) -> dict:
    held = rights_of(request.user) if hasattr(request, "user") else frozenset()
    return {
        "can_view": Right.VIEW in held,
        "can_operate": Right.OPERATE in held,
        "can_administer": Right.ADMINISTER in held,
    }
