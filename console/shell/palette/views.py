"""What the palette shows for what is typed."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.records.reader_slots import ReaderSlots
from console.kit.access.clusters import visible_clusters
from console.kit.access.rights import Right, reach_of, require
from console.kit.tables.queries import views_seen_by
from console.shell.palette.queries import TEXT_LENGTH_MAX, find

#: A page asks again at each letter: so many at one time, of all people and of one.
SLOTS = ReaderSlots(slots_max=32, per_person_max=6)


@require_safe
def results(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.VIEW)
    if SLOTS.take(request.user.pk):
        return HttpResponse("The last letters are still being looked for.", status=429)
    try:
        return _results(request)
    finally:
        SLOTS.give_back(request.user.pk)


def _results(request: HttpRequest) -> HttpResponse:
    text = request.GET.get("text", "")[:TEXT_LENGTH_MAX].replace("\0", "")
    clusters = visible_clusters(request.user) if settings.CLUSTERS else ()
    return render(
        request,
        "palette/found.html",
        {
            "results": find(text, reach_of(request.user), clusters, views_seen_by(request.user)),
            "text": text,
        },
    )
