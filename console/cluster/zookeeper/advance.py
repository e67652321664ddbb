"""One beat of a change of the ensemble: gather facts, decide, do, write.

The beat may come twice or not at all: what is to be done next follows from the ensemble, the processes and the row.
"""

from datetime import timedelta

from django.utils import timezone

from console.cluster.zookeeper.ensemble import (
    EnsembleDecision,
    EnsembleFacts,
    EnsembleStep,
    ProcessFacts,
    Server,
    Stage,
    next_step,
)
from console.cluster.zookeeper.models import EnsembleChange
from console.cluster.zookeeper.servers import leaving_processes, server_processes, spec_of
from console.kit.common.databases import cluster_atomic
from console.kit.gateway.connect import zookeeper_gateway
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.zookeeper.interface import EnsembleConfig, NotAllowedError, ReconfigRefusedError
from console.kit.operations.rows import settle
from console.processes.actions import do_remove, do_start
from console.processes.models import ManagedProcess
from console.processes.registry import add_process, change_process
from console.processes.states import Desired, Observed

State = EnsembleChange.State
_STATES = {EnsembleStep.FINISH: State.DONE, EnsembleStep.CANCEL: State.CALLED_OFF}
#: How long a reconfig whose answer was lost may still be carried out: its connection has long been given up by then.
ON_ITS_WAY = timedelta(seconds=60)


def advance(change: EnsembleChange) -> None:
    """Take the next step of `change`, or wait for what it needs."""
    config, why_silent = _config()
    decision = next_step(_facts(change, config, why_silent))
    if config is not None:  # without one `next_step` waits
        if decision.do is EnsembleStep.RECONFIG:
            decision = _reconfigure(change, config, decision)
        else:
            _do(change, config, decision)
    state = _STATES.get(decision.do, change.state)
    settle(change, {"state": state, "stage": max(change.stage, decision.stage), "sentence": decision.sentence})


def _config() -> tuple[EnsembleConfig | None, str]:
    try:
        return zookeeper_gateway().ensemble(), ""
    except GatewayError as error:
        return None, str(error)


def _facts(change: EnsembleChange, config: EnsembleConfig | None, why_silent: str) -> EnsembleFacts:
    processes = {**server_processes(), **leaving_processes()}
    return EnsembleFacts(
        joining=change.joining,
        leaving=tuple(change.leaving),
        config=config,
        processes={number: _process_facts(row) for number, row in processes.items()},
        modes=modes_of(config, change.joining) if config else {},
        are_brokers_told=config is None or not _brokers_to_tell(config),
        is_called_off=change.is_called_off,
        is_asked=change.asked_at is not None,
        why_silent=why_silent,
    )


def modes_of(config: EnsembleConfig, joining: tuple[Server, ...] = ()) -> dict[int, str]:
    """Return the modes of the serving members and joining servers, by number."""
    addresses = {
        member.number: (member.client_host, member.client_port) for member in config.members if member.client_port
    }
    addresses |= {server.number: (server.host, server.client_port) for server in joining}
    modes = zookeeper_gateway().modes(list(addresses.values()))
    return {number: modes[address] for number, address in addresses.items() if address in modes}


def _process_facts(row: ManagedProcess) -> ProcessFacts:
    has_ended = row.observed in (Observed.EXITED, Observed.STOPPED) and not row.request
    return ProcessFacts(has_ended, row.sentence)


def _brokers_to_tell(config: EnsembleConfig) -> list[tuple[ManagedProcess, str]]:
    """Return managed brokers whose configuration names other servers than the members, with the new value."""
    connect = ",".join(member.address for member in config.members if member.address)
    outdated = []
    for row in ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER):
        _, slash, chroot = row.spec.get("zookeeper", "").partition("/")
        wanted = f"{connect}{slash}{chroot}"
        if row.spec and connect and row.spec["zookeeper"] != wanted:
            outdated.append((row, wanted))
    return outdated


def _do(change: EnsembleChange, config: EnsembleConfig, decision: EnsembleDecision) -> None:
    match decision.do:
        case EnsembleStep.START:
            members = [member.line for member in config.members]
            for server in change.joining:
                if server.number in decision.numbers:
                    row = add_process("zookeeper", server.process, spec_of(server, members), desired=Desired.RUNNING)
                    do_start(change.actor, row)
        case EnsembleStep.TELL:
            for row, connect in _brokers_to_tell(config):
                change_process(row, {**row.spec, "zookeeper": connect})
        case EnsembleStep.STOP | EnsembleStep.WITHDRAW:
            processes = server_processes()  # those asked to go already are not among them
            for number in decision.numbers:
                if number in processes:
                    do_remove(change.actor, processes[number])


def _reconfigure(change: EnsembleChange, config: EnsembleConfig, decision: EnsembleDecision) -> EnsembleDecision:
    """Reconfigure, noted before it is sent: from then on the servers that the change needs may not be stopped."""
    with cluster_atomic():
        locked = EnsembleChange.objects.select_for_update().get(pk=change.pk)
        if locked.is_called_off:
            return EnsembleDecision(EnsembleStep.NOTHING, decision.stage, change.sentence)
        locked.asked_at = locked.asked_at or timezone.now()
        locked.save(update_fields=["asked_at"])
    joining = [member.line for member in change.joining if member.number not in config.numbers]
    leaving = sorted(config.numbers & set(change.leaving))
    try:
        zookeeper_gateway().reconfigure(joining, leaving, config.version)
    except (ReconfigRefusedError, NotAllowedError) as error:
        if change.asked_at is None or timezone.now() - change.asked_at > ON_ITS_WAY:
            EnsembleChange.objects.filter(pk=change.pk).update(asked_at=None)
        return EnsembleDecision(
            EnsembleStep.NOTHING, Stage.RECONFIG, f"The members are as they were, it is tried again: {error}"
        )
    except GatewayError as error:
        return EnsembleDecision(EnsembleStep.NOTHING, Stage.RECONFIG, f"{error} It is looked at again.")
    return EnsembleDecision(EnsembleStep.NOTHING, Stage.TELL, "The members have changed.")
