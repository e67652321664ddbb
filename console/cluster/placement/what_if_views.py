"""The page What if: nothing is asked of the cluster and nothing is changed."""

from collections.abc import Iterator

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.placement.forms import WhatIfForm
from console.cluster.placement.goals import GOAL_WORDS, figures
from console.cluster.placement.moving import seen_now
from console.cluster.placement.optimise import GOALS
from console.cluster.placement.what_if import NAMED_MAX, WhatIfOutcome, outcome
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require
from console.kit.common.csv_table import csv_response, wants_csv

_OF_ALL = "These are sums over all topics, and your rights do not reach all of them."
TITLES = ("broker", *(f"{goal}_now" for goal in GOALS), *(f"{goal}_then" for goal in GOALS))


@require_safe
def what_if(request: HttpRequest) -> HttpResponseBase:
    require(request.user, Right.VIEW)
    if reach_of(request.user).is_limited(Resource.TOPIC):
        raise PermissionDenied(_OF_ALL)
    seen, racks = seen_now()
    form = WhatIfForm(racks, request.GET)
    if not form.is_valid():
        return render(request, "placement/what-if.html", {"form": form}, status=422)
    found = outcome(seen, racks, form.scenario)
    if wants_csv(request):
        return csv_response(request, "what-if", TITLES, _cells(found))
    context = {
        "form": form,
        "is_asked": not form.scenario.is_nothing,
        "found": found,
        "goals": [GOAL_WORDS[goal] for goal in GOALS],
        "loads": [
            (load, zip(GOAL_WORDS.values(), figures(load.before), figures(load.after), strict=True))
            for load in found.loads
        ],
        "lists": [
            (words, [f"{topic}-{partition}" for topic, partition in places[:NAMED_MAX]], len(places))
            for words, places in (("Offline", found.offline), ("Refuse acks=all", found.refusing))
        ],
        "least_ms": _least_ms(found, form.cleaned_data["throttle"]),
    }
    return render(request, "placement/what-if.html", context)


def _least_ms(found: WhatIfOutcome, throttle: float | None) -> int | None:
    """How long a balance takes at least, copied to as many brokers at a time as were added."""
    added = sum(load.before is None for load in found.loads)
    if not throttle or not added or not found.copied_bytes:
        return None
    return round(found.copied_bytes / added / (throttle * 1_000_000) * 1_000)


def _cells(found: WhatIfOutcome) -> Iterator[tuple[object, ...]]:
    nothing = (None,) * len(GOALS)
    for load in found.loads:
        yield (load.broker_id, *(load.before or nothing), *(load.after or nothing))
