"""Every address of the console. A feature keeps its own routes; this file only says where they hang."""

from django.conf import settings
from django.urls import include, path

from console.kit.common.cluster_urls import prefix_of

pages = [
    path("", include("console.signals.overview.urls")),
    path("", include("console.people.users.urls")),
    path("", include("console.people.sso.urls")),
    path("", include("console.people.readonly.urls")),
    path("", include("console.shell.api.urls")),
    path("", include("console.shell.palette.urls")),
    path("views/", include("console.kit.tables.urls")),
    path("clusters/", include("console.shell.fleet.urls")),
    path("topics/", include("console.cluster.topics.urls")),
    path("topics/", include("console.cluster.retention.urls")),
    path("topics/", include("console.cluster.records.urls")),
    path("topics/", include("console.cluster.contents.urls")),
    path("topics/", include("console.cluster.protections.urls")),
    path("topics/", include("console.state.consumers.topic_urls")),
    path("topics/", include("console.cluster.producers.urls")),
    path("topics/", include("console.cluster.notes.urls")),
    path("consumers/", include("console.state.consumers.urls")),
    path("brokers/", include("console.cluster.brokers.urls")),
    path("retention/", include("console.cluster.retention.cluster_urls")),
    path("placement/+staged/", include("console.automation.staged_moves.urls")),
    path("placement/", include("console.cluster.placement.urls")),
    path("kafka-users/", include("console.cluster.credentials.urls")),
    path("quotas/", include("console.cluster.quotas.urls")),
    path("footprint/", include("console.cluster.footprint.urls")),
    path("access-lists/", include("console.cluster.acls.urls")),
    path("schemas/", include("console.cluster.schemas.urls")),
    path("zookeeper/", include("console.cluster.zookeeper.urls")),
    path("", include("console.state.history.urls")),
    path("history/at/", include("console.cluster.past.urls")),
    path("", include("console.cluster.charts.urls")),
    path("alerts/", include("console.signals.alerts.urls")),
    path("healing/", include("console.automation.healing.urls")),
    path("audit/", include("console.kit.audit.urls")),
    path("processes/+rolling-restart/", include("console.automation.rolling_restart.urls")),
    path("drills/", include("console.automation.drill.urls")),
    path("processes/+decommission/", include("console.automation.decommission.urls")),
    path("processes/", include("console.processes.urls")),
    path("mirrors/", include("console.ecosystem.mirrors.urls")),
    path("completeness/", include("console.ecosystem.completeness.urls")),
    path("", include("console.ecosystem.probe.urls")),
    path("connectors/", include("console.ecosystem.connectors.urls")),
    path("dependencies/", include("console.signals.dependencies.urls")),
    path("declaration/", include("console.automation.declared.urls")),
    path("changes/", include("console.shell.changes.urls")),
    path("streams/", include("console.ecosystem.streams.urls")),
]
urlpatterns = [path(prefix_of(settings.CLUSTER), include(pages))]

handler400 = "console.shell.web.errors.bad_request"
handler403 = "console.shell.web.errors.forbidden"
handler404 = "console.shell.web.errors.not_found"
handler500 = "console.shell.web.errors.broken"
