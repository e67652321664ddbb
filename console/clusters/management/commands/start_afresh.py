"""`manage.py start_afresh NAME`: another cluster has taken the place of one; what is kept of the old one is deleted."""

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from console.clusters.afresh import start_afresh
from console.clusters.queries import cluster_state
from console.common.current_cluster import all_clusters, in_cluster
from console.common.reloading import ask_to_reload

_WHAT_GOES = (
    "Deleted is all that was seen of {old} as {name}: history, charts, notes, what takes changes back; and all that "
    "was to be done there: moves, planned deletions, proposed changes, healing. Rules of alerts and changes stay, and "
    "so do rights and the audit."
)


class Command(BaseCommand):
    help = "Forgets the cluster that had this name, so that another may have it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="main, or a name of clusters.toml or of a page")
        parser.add_argument("--yes", action="store_true", help="do it; without, it is told what would be deleted")

    def handle(self, *arguments: object, name: str, yes: bool, **options: object) -> None:
        if name not in all_clusters():
            raise CommandError(f"There is no cluster {name}; there are {', '.join(all_clusters())}.")
        with in_cluster(name):
            old = cluster_state().cluster_id or "a cluster without an id"
            if not yes:
                raise CommandError(f"{_WHAT_GOES.format(old=old, name=name)} Say --yes to have it done.")
            count = start_afresh()
        ask_to_reload(settings.RUN_DIR)
        self.stdout.write(f"{count:,} rows of {old} are deleted; the console's processes start again, if they run.")
