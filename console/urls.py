"""Every address of the console. A feature keeps its own routes; this file only says where they hang."""

from django.conf import settings
from django.urls import include, path

from console.common.cluster_urls import prefix_of

pages = [
    path("", include("console.overview.urls")),
    path("", include("console.users.urls")),
    path("", include("console.sso.urls")),
    path("", include("console.readonly.urls")),
    path("", include("console.api.urls")),
    path("", include("console.palette.urls")),
    path("views/", include("console.tables.urls")),
    path("clusters/", include("console.fleet.urls")),
    path("topics/", include("console.topics.urls")),
    path("topics/", include("console.retention.urls")),
    path("topics/", include("console.records.urls")),
    path("topics/", include("console.contents.urls")),
    path("topics/", include("console.protections.urls")),
    path("topics/", include("console.consumers.topic_urls")),
    path("topics/", include("console.producers.urls")),
    path("topics/", include("console.notes.urls")),
    path("consumers/", include("console.consumers.urls")),
    path("brokers/", include("console.brokers.urls")),
    path("retention/", include("console.retention.cluster_urls")),
    path("placement/+staged/", include("console.staged_moves.urls")),
    path("placement/", include("console.placement.urls")),
    path("kafka-users/", include("console.credentials.urls")),
    path("quotas/", include("console.quotas.urls")),
    path("footprint/", include("console.footprint.urls")),
    path("access-lists/", include("console.acls.urls")),
    path("schemas/", include("console.schemas.urls")),
    path("zookeeper/", include("console.zookeeper.urls")),
    path("", include("console.history.urls")),
    path("history/at/", include("console.past.urls")),
    path("", include("console.charts.urls")),
    path("alerts/", include("console.alerts.urls")),
    path("healing/", include("console.healing.urls")),
    path("audit/", include("console.audit.urls")),
    path("processes/+rolling-restart/", include("console.rolling_restart.urls")),
    path("drills/", include("console.drill.urls")),
    path("processes/+decommission/", include("console.decommission.urls")),
    path("processes/", include("console.processes.urls")),
    path("mirrors/", include("console.mirrors.urls")),
    path("completeness/", include("console.completeness.urls")),
    path("", include("console.probe.urls")),
    path("connectors/", include("console.connectors.urls")),
    path("dependencies/", include("console.dependencies.urls")),
    path("declaration/", include("console.declared.urls")),
    path("changes/", include("console.changes.urls")),
    path("streams/", include("console.streams.urls")),
]
urlpatterns = [path(prefix_of(settings.CLUSTER), include(pages))]

handler400 = "console.web.errors.bad_request"
handler403 = "console.web.errors.forbidden"
handler404 = "console.web.errors.not_found"
handler500 = "console.web.errors.broken"
