"""What templates may ask about the person in front of them. It decides what is drawn; views decide what is allowed."""

from django.http import HttpRequest

from console.kit.access.read_only import why_read_only
from console.kit.access.rights import Right, reach_of, rights_here, seen_by, sees_all_names
from console.kit.common.cluster_urls import place_of


def rights(request: HttpRequest) -> dict[str, object]:
    if not hasattr(request, "user"):
        return {}
    held = rights_here(request.user)
    read_only = why_read_only() if request.user.is_authenticated else ""
    return {
        "place": place_of(request.path),
        "read_only": read_only,
        "can_brake": Right.OPERATE in held,
        "can_view": Right.VIEW in held,
        "can_read_records": Right.RECORDS in held,
        "can_operate": Right.OPERATE in held and not read_only,
        "can_grant": Right.GRANT in reach_of(request.user).role and not read_only,
        "sees_all_names": sees_all_names(request.user),
        "sees": {str(item) for item in seen_by(request.user)},
        "can_administer": Right.ADMINISTER in reach_of(request.user).role,
        "has_own_password": request.user.is_authenticated and request.user.has_usable_password(),
    }
