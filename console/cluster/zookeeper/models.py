"""A change of the ensemble: who joins and leaves, and how far it is."""

from django.db import models

from console.cluster.zookeeper.ensemble import EnsembleChangeKind, Server, Stage, name_servers
from console.cluster.zookeeper.feature import ensemble_group
from console.kit.operations.models import Operation, one_open


class EnsembleChange(Operation):
    TEMPLATE = "zookeeper/partials/change.html"
    group = staticmethod(ensemble_group)

    kind = models.CharField(max_length=10, choices=[(item.value, item.value) for item in EnsembleChangeKind])
    #: The fields of `ensemble.Server`, one object each; and the numbers of those that go.
    joining_servers = models.JSONField(default=list)
    leaving = models.JSONField(default=list)
    stage = models.IntegerField(default=Stage.START.value)
    #: It goes on until the new servers have gone.
    is_called_off = models.BooleanField(default=False)
    #: When a reconfig was sent that has not been refused for certain: from then on it may happen at any time.
    asked_at = models.DateTimeField(null=True)

    class Meta(Operation.Meta):
        verbose_name = "change of ensemble"
        constraints = [one_open("one_ensemble_change_at_a_time")]

    @property
    def audited(self) -> tuple[str, str]:
        return "zookeeper ensemble", self.title

    @property
    def joining(self) -> tuple[Server, ...]:
        return tuple(Server(**server) for server in self.joining_servers)

    @property
    def can_be_called_off(self) -> bool:
        return self.is_open and not self.is_called_off and self.asked_at is None

    @property
    def title(self) -> str:
        joins = [item.number for item in self.joining]
        parts = [f"{name_servers(joins)} join{'s' if len(joins) == 1 else ''}"] if joins else []
        if self.leaving:
            parts.append(f"{name_servers(self.leaving)} leave{'s' if len(self.leaving) == 1 else ''}")
        text = ", ".join(parts)
        return text[:1].upper() + text[1:]

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The steps of this change, each done, busy, waiting or left out."""
        names = [(Stage.RECONFIG, "Change the members"), (Stage.TELL, "Tell the brokers")]
        if self.joining:
            names = [(Stage.START, "Start the new servers"), (Stage.SYNC, "Wait until they have all data"), *names]
        if self.leaving:
            names.append((Stage.STOP, "Stop the old servers"))
        return [(name, self._word(stage)) for stage, name in names]

    def _word(self, stage: Stage) -> str:
        if self.state == self.State.DONE or (stage < self.stage and not self.is_called_off):
            return "done"
        if self.state == self.State.CALLED_OFF or self.is_called_off:
            return "left out"
        return "busy" if stage == self.stage else "waiting"
