"""The audit page, for administrators."""

from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.access.rights import Right, require
from console.audit.models import AuditEvent

EVENTS_PER_PAGE = 50


@require_safe
def audit_list(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    search = request.GET.get("search", "").strip()[:249]
    events = AuditEvent.objects.all()
    if search:
        events = events.filter(
            Q(actor_name__icontains=search) | Q(action__icontains=search) | Q(object_name__icontains=search)
        )
    page = Paginator(events, EVENTS_PER_PAGE).get_page(request.GET.get("page", "1"))
    return render(request, "audit/list.html", {"page": page, "search": search})
