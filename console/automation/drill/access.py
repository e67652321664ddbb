"""Who may look at drills, and begin one: their reports tell of the whole cluster."""

from django.contrib.auth.models import User
from django.http import Http404

from console.automation.drill.models import Drill
from console.kit.access.rights import Right, require, require_everything


def access_drills(user: User, right: Right = Right.VIEW) -> None:
    require(user, right)
    require_everything(user)


def access_drill(user: User, number: int, right: Right = Right.VIEW) -> Drill:
    access_drills(user, right)
    drill = Drill.objects.filter(pk=number).first()
    if drill is None:
        raise Http404("There is no such drill, or its report is not kept any more.")
    return drill
