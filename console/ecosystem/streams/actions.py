"""What is done to a stream job, as planned: added, started over, removed. Start and stop are those of any process."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.contrib.auth.models import User

from console.ecosystem.streams.submission import Submission
from console.kit.common.databases import cluster_atomic
from console.kit.plans.apply import carry_out
from console.kit.plans.inverse import save_inverse
from console.kit.plans.plan import Confirmation, ObstacleError, Plan
from console.processes.actions import do_start
from console.processes.models import ManagedProcess
from console.processes.registry import add_process, change_process

#: The checkpoint as it was before the last reset.
KEPT_CHECKPOINT = "checkpoint-before-reset"


def do_add_stream(actor: User, plan: Plan, submission: Submission, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError, and SpecError if the spec is wrong after all."""

    def add() -> None:
        with cluster_atomic():
            process = add_process("stream", submission.name, submission.spec)
            do_start(actor, process)

    carry_out(actor, plan, confirmation, add)


def do_start_after_loss(actor: User, plan: Plan, process: ManagedProcess, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError."""
    carry_out(actor, plan, confirmation, lambda: do_start(actor, process))


def do_reset_checkpoint(
    actor: User, plan: Plan, process: ManagedProcess, target: str, confirmation: Confirmation
) -> None:
    """Move the checkpoint aside; a former one that was set aside is deleted. Raises NotConfirmedError, also if its
    files cannot be changed: the checkpoint is then where it was.
    """

    def reset() -> None:
        save_inverse(actor, plan, {"spec": process.spec})
        properties = {**process.spec["properties"], "starting.offsets": target}
        try:
            with _put_aside(process.data_dir / "checkpoint"):
                change_process(process, {**process.spec, "properties": properties})
        except OSError as error:
            raise ObstacleError(
                f"The checkpoint was not reset: {error.strerror} ({error.filename}). Make room there or mend the "
                "rights of these files, then reset again."
            ) from error

    carry_out(actor, plan, confirmation, reset)


@contextmanager
def _put_aside(checkpoint: Path) -> Iterator[None]:
    """Move the checkpoint aside inside; it is restored after an error."""
    kept = checkpoint.with_name(KEPT_CHECKPOINT)
    if not checkpoint.exists():
        yield
        return
    if kept.exists():
        shutil.rmtree(kept)
    checkpoint.rename(kept)
    try:
        yield
    except Exception:
        kept.rename(checkpoint)
        raise
