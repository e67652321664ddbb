"""The page that lays two clusters beside each other; rights are asked for in both."""

from dataclasses import dataclass

from django.core.paginator import Paginator
from django.http import HttpResponseBase, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.kit.access.clusters import visible_clusters
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.declared_clusters import DeclaredCluster
from console.kit.common.user_request import UserRequest
from console.shell.fleet.comparing import GROUPS, RULES, SETTINGS, TOPICS, ClusterDifference, compare
from console.shell.fleet.gathering import TOPICS_ASKED_MAX, facts_of_both
from console.shell.fleet.views import require_any

ROWS_PER_PAGE = 200
SECTIONS = (TOPICS, GROUPS, RULES, SETTINGS)
TITLES = ("kind", "name", "what", "left", "right", "differs")


@dataclass(frozen=True, slots=True)
class CompareQuery:
    """What was asked for; a cluster that is not the person's counts as not chosen."""

    left: DeclaredCluster | None
    right: DeclaredCluster | None
    section: str = ""
    search: str = ""
    #: Also what is the same in both.
    shows_all: bool = False

    @classmethod
    def parse(cls, parameters: QueryDict, clusters: list[DeclaredCluster]) -> "CompareQuery":
        by_name = {cluster.name: cluster for cluster in clusters}
        left = by_name.get(parameters.get("left", "")) or next(iter(clusters), None)
        others = [cluster for cluster in clusters if cluster is not left]
        right = by_name.get(parameters.get("right", "")) or next(iter(others), None)
        section = parameters.get("kind", "")
        return cls(
            left,
            right,
            section if section in SECTIONS else "",
            parameters.get("search", "").strip()[:249],
            parameters.get("all") == "on",
        )

    def chooses(self, row: ClusterDifference) -> bool:
        if not (self.shows_all or row.differs) or self.section not in ("", row.section):
            return False
        return self.search.lower() in f"{row.name} {row.what}".lower()


@require_safe
def cluster_compare(request: UserRequest) -> HttpResponseBase:
    require_any(request.user)
    clusters = visible_clusters(request.user)
    query = CompareQuery.parse(request.GET, clusters)
    context: dict[str, object] = {"query": query, "clusters_to_compare": clusters, "sections": SECTIONS}
    context["is_of_all_clusters"] = True
    differences: list[ClusterDifference] = []
    if query.left and query.right:
        left, right = facts_of_both(request.user, query.left.name, query.right.name)
        differences = [row for row in compare(left, right) if query.chooses(row)]
        context["missing"] = [
            (cluster, section, why)
            for cluster, facts in ((query.left, left), (query.right, right))
            for section, why in facts.missing.items()
        ]
    if wants_csv(request):
        rows = ((row.section, row.name, row.what, row.left, row.right, row.differs) for row in differences)
        return csv_response(request, "compared", TITLES, rows)
    context["page"] = Paginator(differences, ROWS_PER_PAGE).get_page(request.GET.get("page", "1"))
    context["topics_asked_max"] = TOPICS_ASKED_MAX
    return render(request, "fleet/compare.html", context)
