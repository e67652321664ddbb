"""Which step comes next, from what is true: nothing else is remembered."""

from dataclasses import replace

import pytest

from broker.zookeeper.ensemble_config import parse_config
from console.cluster.zookeeper.ensemble import (
    EnsembleChangeKind,
    EnsembleFacts,
    EnsembleStep,
    ProcessFacts,
    Server,
    Stage,
    choose_leaving,
    name_servers,
    next_numbers,
    next_step,
    quorum_of,
    size_after,
)

RUNS, ENDED = ProcessFacts(), ProcessFacts(True, "exited: port taken.")


def server(number: int) -> Server:
    return Server(number, f"zookeeper-{number}", "127.0.0.1", 2180 + number, 2887 + number, 3887 + number)


def config(*numbers: int):
    return parse_config("\n".join([*(server(number).line for number in numbers), "version=5"]))


def facts(members, joining=(), leaving=(), **more) -> EnsembleFacts:
    """All members serve, server 1 leads; no process of those that join is there yet."""
    given = {
        "joining": tuple(server(number) for number in joining),
        "leaving": tuple(leaving),
        "config": config(*members),
        "processes": dict.fromkeys(members, RUNS),
        "modes": {number: "leader" if number == 1 else "follower" for number in members},
        "are_brokers_told": True,
    }
    return EnsembleFacts(**{**given, **more})


def joined(members, joining, **more) -> EnsembleFacts:
    """Those that join run and have all data."""
    known = (*members, *joining)
    modes = {number: "leader" if number == 1 else "follower" for number in known}
    return facts(members, joining, processes=dict.fromkeys(known, RUNS), **{"modes": modes, **more})


def test_a_server_line_is_what_a_reconfig_wants():
    assert server(2).line == "server.2=127.0.0.1:2889:3889:participant;127.0.0.1:2182"


@pytest.mark.parametrize(("size", "quorum"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (7, 4)])
def test_a_quorum_is_more_than_half(size, quorum):
    assert quorum_of(size) == quorum


@pytest.mark.parametrize(
    ("kind", "size", "after"),
    [
        (EnsembleChangeKind.GROW, 1, 3),
        (EnsembleChangeKind.GROW, 2, 3),
        (EnsembleChangeKind.GROW, 3, 5),
        (EnsembleChangeKind.SHRINK, 5, 3),
        (EnsembleChangeKind.SHRINK, 4, 3),
        (EnsembleChangeKind.SHRINK, 3, 1),
        (EnsembleChangeKind.SHRINK, 2, 1),
        (EnsembleChangeKind.SHRINK, 1, 1),
        (EnsembleChangeKind.REPLACE, 3, 3),
    ],
)
def test_an_ensemble_has_an_odd_number_of_members_afterwards(kind, size, after):
    assert size_after(kind, size) == after


def test_those_that_do_not_serve_leave_first_and_then_the_newest():
    assert choose_leaving([1, 2, 3], frozenset({1, 2, 3}), 2) == (2, 3)
    assert choose_leaving([1, 2, 3], frozenset({2, 3}), 2) == (1, 3)
    assert choose_leaving([1, 2, 3, 4, 5], frozenset({1, 2, 4, 5}), 2) == (3, 5)


def test_a_number_is_never_used_twice():
    assert next_numbers([1, 4], 2) == [5, 6]
    assert next_numbers([254], 2) == [255]


def test_growing_starts_both_new_servers_together():
    decision = next_step(facts([1], [2, 3]))
    assert (decision.do, decision.numbers, decision.stage) == (EnsembleStep.START, (2, 3), Stage.START)
    assert decision.sentence == "Starts servers 2 and 3."


def test_a_worker_that_died_between_two_starts_left_one_to_start():
    decision = next_step(facts([1], [2, 3], processes={1: RUNS, 2: RUNS}))
    assert (decision.do, decision.numbers) == (EnsembleStep.START, (3,))


def test_the_members_stay_until_every_new_server_has_all_data():
    waiting = joined([1], [2, 3], modes={1: "leader", 2: "follower"})
    decision = next_step(waiting)
    assert (decision.do, decision.stage) == (EnsembleStep.NOTHING, Stage.SYNC)
    assert decision.sentence == "Waits until server 3 has all data from the leader."
    assert next_step(joined([1], [2, 3])).do is EnsembleStep.RECONFIG


def test_a_new_server_that_ended_is_named_with_its_reason():
    broken = joined([1], [2, 3], modes={1: "leader", 2: "follower"})
    decision = next_step(replace(broken, processes={**broken.processes, 3: ENDED}))
    assert decision.do is EnsembleStep.NOTHING
    assert decision.sentence.startswith("Server 3 does not run: exited: port taken. Start it")


def test_an_ensemble_that_does_not_answer_is_waited_for():
    decision = next_step(facts([1], [2, 3], config=None, why_silent="no quorum."))
    assert (decision.do, decision.sentence) == (EnsembleStep.NOTHING, "Waits for the ensemble: no quorum.")


def test_no_member_is_given_up_while_the_others_would_have_no_quorum():
    shrinking = facts([1, 2, 3], leaving=[2, 3], modes={2: "leader", 3: "follower"})
    decision = next_step(shrinking)
    assert decision.do is EnsembleStep.NOTHING
    assert "Waits for server 1" in decision.sentence


def test_a_dead_member_can_be_replaced():
    replacing = joined([1, 2, 3], [4], leaving=(2,), modes={1: "leader", 3: "follower", 4: "follower"})
    assert next_step(replacing).do is EnsembleStep.RECONFIG


def test_old_servers_are_stopped_only_after_the_members_have_changed_and_brokers_know():
    changed = facts([1, 3, 4], [4], leaving=(2,), processes=dict.fromkeys([1, 2, 3, 4], RUNS))
    assert next_step(replace(changed, are_brokers_told=False)).do is EnsembleStep.TELL
    decision = next_step(changed)
    assert (decision.do, decision.numbers, decision.stage) == (EnsembleStep.STOP, (2,), Stage.STOP)


def test_it_is_over_when_the_old_servers_are_gone():
    decision = next_step(facts([1, 3, 4], [4], leaving=(2,)))
    assert (decision.do, decision.sentence) == (EnsembleStep.FINISH, "Done: the ensemble is servers 1, 3 and 4.")


def test_a_member_that_does_not_serve_at_the_end_is_named():
    over = facts([1, 2, 3], [2, 3], modes={1: "leader", 2: "follower"})
    assert "Server 3 does not serve now." in next_step(over).sentence


def test_calling_off_stops_the_new_servers_and_leaves_the_members():
    called_off = replace(joined([1], [2, 3]), is_called_off=True)
    decision = next_step(called_off)
    assert (decision.do, decision.numbers) == (EnsembleStep.WITHDRAW, (2, 3))
    over = next_step(replace(called_off, processes={1: RUNS}))
    assert (over.do, over.sentence) == (EnsembleStep.CANCEL, "Called off: the ensemble is server 1, as before.")


def test_a_reconfig_that_may_still_happen_is_never_called_off():
    """The servers it names would be needed for the quorum the moment it happens."""
    state = replace(joined([1], [2, 3]), is_called_off=True, is_asked=True)
    assert next_step(state).do is EnsembleStep.RECONFIG


def test_calling_off_too_late_goes_on_to_the_end():
    late = replace(joined([1, 2, 3], []), joining=(server(2), server(3)), is_called_off=True)
    decision = next_step(late)
    assert decision.do is EnsembleStep.FINISH
    assert "had changed already" in decision.sentence


def test_servers_are_named_as_a_person_would():
    assert name_servers([2]) == "server 2"
    assert name_servers([2, 3]) == "servers 2 and 3"
    assert name_servers([1, 2, 3], capital=True) == "Servers 1, 2 and 3"


@pytest.mark.parametrize("members", [[1], [1, 2], [1, 2, 3]])
def test_every_step_leads_to_another_or_to_the_end(members):
    """Carried out as decided, each change ends, whatever the ensemble was."""
    state = facts(members, [7, 8], leaving=members[1:])
    done = []
    while not done or done[-1] not in (EnsembleStep.FINISH, EnsembleStep.NOTHING):
        decision = next_step(state)
        done.append(decision.do)
        state = carried_out(state, decision)
    assert done[-1] is EnsembleStep.FINISH
    assert done == [
        EnsembleStep.START,
        EnsembleStep.RECONFIG,
        EnsembleStep.TELL,
        *([EnsembleStep.STOP] if members[1:] else []),
        EnsembleStep.FINISH,
    ]


def carried_out(state: EnsembleFacts, decision) -> EnsembleFacts:
    match decision.do:
        case EnsembleStep.START:
            started = dict.fromkeys(decision.numbers, RUNS)
            follow = dict.fromkeys(decision.numbers, "follower")
            return replace(state, processes={**state.processes, **started}, modes={**state.modes, **follow})
        case EnsembleStep.RECONFIG:
            numbers = (state.config.numbers | {item.number for item in state.joining}) - set(state.leaving)
            return replace(state, config=config(*sorted(numbers)), are_brokers_told=False)
        case EnsembleStep.TELL:
            return replace(state, are_brokers_told=True)
        case EnsembleStep.STOP:
            left = {number: item for number, item in state.processes.items() if number not in decision.numbers}
            return replace(state, processes=left)
    return state
