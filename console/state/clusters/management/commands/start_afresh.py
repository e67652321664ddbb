"""`manage.py start_afresh NAME`: another cluster has taken the place of one; what is kept of the old one is deleted."""

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from console.kit.audit.record import record_event
from console.kit.common.current_cluster import all_clusters, in_cluster
from console.kit.common.databases import cluster_atomic
from console.kit.common.reloading import ask_to_reload
from console.state.clusters.queries import cluster_state
from console.state.clusters.reset_cluster import WHAT_GOES, start_afresh


class Command(BaseCommand):
    help = "Forgets the cluster that had this name, so that another may have it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="main, or a name of clusters.toml or of a page")
        parser.add_argument("--yes", action="store_true", help="do it; without, it is told what would be deleted")

    def handle(self, *arguments: object, name: str, yes: bool, **options: object) -> None:
        if name not in all_clusters():
            raise CommandError(f"There is no cluster {name}; there are {', '.join(all_clusters())}.")
        with in_cluster(name):
            was = cluster_state().cluster_id
            old = was or "a cluster without an id"
            if not yes:
                raise CommandError(f"{WHAT_GOES.format(old=old, name=name)} Say --yes to have it done.")
            with cluster_atomic():
                count = start_afresh()
                detail = f"{count:,} rows"
                record_event(None, "start afresh", "cluster", name, {"cluster_id": was}, None, detail=detail)
        ask_to_reload(settings.RUN_DIR)
        self.stdout.write(f"{count:,} rows of {old} are deleted; the console's processes start again, if they run.")
