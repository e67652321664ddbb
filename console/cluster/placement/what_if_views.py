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
    what_if_outcome = outcome(seen, racks, form.scenario)
    if wants_csv(request):
        return csv_response(request, "what-if", TITLES, _cells(what_if_outcome))
    context = {
        "form": form,
        "is_asked": not form.scenario.is_nothing,
        "outcome": what_if_outcome,
        "goals": [GOAL_WORDS[goal] for goal in GOALS],
        "loads": [
            (load, zip(GOAL_WORDS.values(), figures(load.before), figures(load.after), strict=True))
            for load in what_if_outcome.loads
        ],
        "lists": [
            (words, [f"{topic}-{partition}" for topic, partition in places[:NAMED_MAX]], len(places))
            for words, places in (("Offline", what_if_outcome.offline), ("Refuse acks=all", what_if_outcome.refusing))
        ],
        "least_ms": _least_ms(what_if_outcome, form.cleaned_data["throttle"]),
    }
    return render(request, "placement/what-if.html", context)


def _least_ms(outcome: WhatIfOutcome, throttle: float | None) -> int | None:
    """Return how long a balance takes at least, copied to as many brokers at a time as were added."""
    added = sum(load.before is None for load in outcome.loads)
    if not throttle or not added or not outcome.copied_bytes:
        return None
    return round(outcome.copied_bytes / added / (throttle * 1_000_000) * 1_000)


def _cells(outcome: WhatIfOutcome) -> Iterator[tuple[object, ...]]:
    nothing = (None,) * len(GOALS)
    for load in outcome.loads:
        yield (load.broker_id, *(load.before or nothing), *(load.after or nothing))
