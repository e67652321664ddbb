"""What beat runs for this feature: only where something waits that could expire."""

from console.changes.models import ProposedChange
from console.changes.tasks import expire_changes

EXPIRE_EVERY_S = 60.0

BEAT_SCHEDULE = {
    "expire-changes": {"task": expire_changes.name, "schedule": EXPIRE_EVERY_S, "options": {"expires": EXPIRE_EVERY_S}},
}
ONLY_IF = {"expire-changes": ProposedChange.objects.filter(state=ProposedChange.State.WAITING).exists}
