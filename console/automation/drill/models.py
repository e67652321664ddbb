"""A drill: what is done to whom, how far it is, what was expected, and what was seen meanwhile."""

from typing import Any

from django.db import models

from console.automation.drill.charts import charts_of
from console.automation.drill.compare import DrillComparison
from console.automation.drill.decide import DrillPhase
from console.automation.drill.expect import ExpectedEffects, read_expected
from console.automation.drill.faults import WORDS, Fault
from console.automation.drill.groups import GroupLine, affected, read_stories, summary
from console.automation.drill.samples import Sample, read_samples
from console.kit.common.stored_fields import from_stored
from console.kit.operations.models import Operation, one_open
from console.processes.os_process import ProcessIdentity

OBJECT_TYPE = "process"
#: Reports that are kept; what was done stays in the audit.
KEPT = 50
_STEPS = {
    DrillPhase.BEFORE: "Look at it as it is",
    DrillPhase.FAULT: "Hold it up",
    DrillPhase.BACK: "Put it back",
    DrillPhase.RECOVER: "Until all is in sync",
    DrillPhase.COUNT: "Count",
}


class Drill(Operation):
    TEMPLATE = "drill/progress.html"

    fault = models.CharField(max_length=6)
    #: Why this process: the controller, the leader of a topic …
    chosen_as = models.CharField(max_length=300)
    #: The managed process; the broker it runs, None for a ZooKeeper server.
    name = models.CharField(max_length=60)
    broker_id = models.IntegerField(null=True)
    seconds = models.IntegerField()
    phase = models.CharField(max_length=12, default=DrillPhase.BEFORE.value)
    #: Somebody stopped it: it goes on until everything is put back.
    is_called_off = models.BooleanField(default=False)
    early = models.CharField(max_length=300, blank=True)
    #: ms since the epoch; None: not yet.
    began_ms = models.BigIntegerField()
    phase_ms = models.BigIntegerField()
    fault_ms = models.BigIntegerField(null=True)
    back_ms = models.BigIntegerField(null=True)
    #: Whom it was done to: another process of that name is not touched.
    target = models.JSONField(default=dict)
    #: The run token of what holds it up.
    holder_token = models.CharField(max_length=40, blank=True)
    expected = models.JSONField(default=dict)
    samples = models.JSONField(default=list)
    #: Of each watched consumer group what came to it; and how many others there were.
    groups = models.JSONField(default=dict)
    unwatched = models.IntegerField(default=0)
    #: Rows of the comparison; empty before its end.
    rows = models.JSONField(default=list)

    class Meta(Operation.Meta):
        constraints = [one_open("one_drill_at_a_time")]

    @property
    def audited(self) -> tuple[str, str]:
        return OBJECT_TYPE, self.name

    @property
    def can_be_called_off(self) -> bool:
        return self.is_open and not self.is_called_off

    @property
    def title(self) -> str:
        return f"{WORDS[Fault(self.fault)].title} {self.name}"

    @property
    def word(self) -> str:
        if self.state != self.State.RUNNING:
            return "stopped" if self.state == self.State.CALLED_OFF else super().word
        return "stopping" if self.is_called_off else self.phase

    @property
    def identity(self) -> ProcessIdentity | None:
        return ProcessIdentity(**self.target) if self.target else None

    @property
    def expectation(self) -> ExpectedEffects:
        return read_expected(self.expected)

    @property
    def seen(self) -> list[Sample]:
        return read_samples(self.samples)

    @property
    def table(self) -> list[DrillComparison]:
        return [from_stored(DrillComparison, row) for row in self.rows]

    @property
    def group_lines(self) -> list[GroupLine]:
        """Effects on groups; none before the fault."""
        return affected(read_stories(self.groups)) if self.fault_ms else []

    @property
    def group_summary(self) -> str:
        return summary(read_stories(self.groups), self.unwatched)

    @property
    def worse_count(self) -> int:
        return sum(row.verdict == "worse" for row in self.table)

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The steps of the drill, each done, busy or waiting."""
        at = list(DrillPhase).index(DrillPhase(self.phase))
        words = {True: "done", False: "waiting"}
        return [
            (
                text_of,
                "busy" if self.is_open and number == at else words[number < at or (number == at and self._ended)],
            )
            for number, text_of in enumerate(_STEPS.values())
        ]

    @property
    def _ended(self) -> bool:
        return self.state == self.State.DONE

    @property
    def shown(self) -> dict[str, Any]:
        charts = charts_of(self.seen, self.fault_ms, self.back_ms, of_broker=self.broker_id is not None)
        return {"charts": charts}
