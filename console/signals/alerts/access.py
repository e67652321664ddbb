"""The door to alerts: they name topics, groups and processes, whatever those are."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from console.kit.access.rights import NOT_ALL_NAMES, Right, require, sees_all_names
from console.signals.alerts.evaluation import AlertPhase
from console.signals.alerts.models import Alert


def access_alerts(user: User, right: Right) -> None:
    """PermissionDenied without `right` on the cluster, and for who may not see every name."""
    require(user, right)
    if not sees_all_names(user):
        raise PermissionDenied(NOT_ALL_NAMES)


def access_alert(user: User, number: int, right: Right) -> Alert:
    """Return an open alert, after checking the right."""
    access_alerts(user, right)
    alert = Alert.objects.filter(pk=number).exclude(state=AlertPhase.RESOLVED).first()
    if alert is None:
        raise Http404("There is no such alert any more.")
    return alert
