"""The rows of the fault matrix that kills, pauses and ZooKeeper can play; their numbers are the matrix's."""

from tests.faults.matrix import (
    broker_rows,
    clock_row,
    committer,
    disk_row,
    divergence_row,
    end_txn_row,
    network_rows,
    failing_disk_row,
    reassignment_row,
    replay_row,
    restart_row,
    rot_row,
    slow_row,
    spoiled_files_row,
    tail_rows,
    throwing_row,
    unclean_row,
    zombie_rows,
    zookeeper_rows,
)
from tests.faults.matrix.network import missing_for_network
from tests.faults.matrix.run import SESSION_S, Row

#: A dead or silent broker counts as gone after its session; then somebody else has to be told.
_FAIL_OVER = {"fail-over": SESSION_S + 2}
_NETWORK = {"cluster": network_rows.networked_cluster, "missing": missing_for_network}
_ALL = (
    Row(1, "kill -9 of a leader", broker_rows.kill_the_leader, bounds=_FAIL_OVER),
    Row(2, "kill -9 of the controller, then with a leader", broker_rows.kill_the_controller, bounds=_FAIL_OVER),
    Row(3, "clean restart of each broker", restart_row.restart_each, judges=(restart_row.nobody_noticed,)),
    Row(4, "a leader stands still for 3 sessions", zombie_rows.stop_the_leader, bounds=_FAIL_OVER),
    Row(5, "the controller stands still for 3 sessions", zombie_rows.stop_the_controller, bounds=_FAIL_OVER),
    Row(6, "ZooKeeper sessions end, processes do not", zookeeper_rows.expire_sessions),
    Row(7, "ZooKeeper has lost its quorum", zookeeper_rows.lose_the_quorum, zookeepers=3),
    Row(8, "kill -9 of all brokers at once", broker_rows.kill_all),
    Row(9, "a leader without its peers", network_rows.cut_off_from_peers, **_NETWORK),
    Row(10, "a leader without ZooKeeper", network_rows.cut_off_from_zookeeper, **_NETWORK, bounds=_FAIL_OVER),
    Row(11, "one does not hear, one is not heard", network_rows.cut_one_way, **_NETWORK),
    Row(12, "a link out and in every second", network_rows.flap, **_NETWORK),
    Row(13, "a slow follower", slow_row.slow_follower, overrides=slow_row.PATIENT),
    Row(14, "the last of an ISR has lost its tail", tail_rows.lose_the_tail_of_the_last, told=tail_rows.LOST),
    Row(15, "two fail-overs at once, three tails", divergence_row.fail_over_twice, overrides=divergence_row.PATIENT),
    Row(17, "logs end in torn batches", tail_rows.tear_the_tails, told=tail_rows.TORN),
    Row(18, "bit rot in sealed segments", rot_row.rot, told=rot_row.REFUSED),
    Row(
        19,
        "indexes and checkpoints lost, zeroed, garbled",
        spoiled_files_row.spoil_files,
        overrides=spoiled_files_row.RESTLESS,
        told=spoiled_files_row.TOLD,
    ),
    Row(
        20,
        "EIO from a write, an fsync, a rename",
        failing_disk_row.fail_a_disk,
        missing=failing_disk_row.missing,
        overrides=failing_disk_row.RESTLESS,
        told=failing_disk_row.TOLD,
    ),
    Row(
        16,
        "a full disk",
        disk_row.fill_the_disk,
        cluster=disk_row.cluster_with_a_small_disk,
        missing=disk_row.missing_for_a_small_disk,
        told=(disk_row.DISK_IS_FULL,),
    ),
    Row(
        21,
        "the clock of one jumps by 2 h, twice",
        clock_row.jump,
        cluster=clock_row.cluster_with_an_odd_clock,
        missing=clock_row.missing_for_a_clock,
        overrides=clock_row.OVERRIDES,
        judges=(clock_row.no_rebalance,),
    ),
    Row(
        22,
        "kill -9 of coordinators in mid-rebalance, mid-EndTxn",
        end_txn_row.kill_both_coordinators,
        overrides=committer.OVERRIDES,
    ),
    Row(
        23,
        "Produce held back, doubled, its answers lost",
        replay_row.replay_produce,
        overrides=committer.OVERRIDES,
    ),
    Row(
        24,
        "a move whose target, source, controller die",
        reassignment_row.move_while_brokers_die,
        topics={reassignment_row.TOPIC: reassignment_row.REPLICAS},
        plans=(reassignment_row.PLAN,),
    ),
    Row(26, "election outside the ISR, refused and allowed", unclean_row.elect_outside_the_isr),
    Row(
        27,
        "exceptions nobody foresaw",
        throwing_row.throw,
        cluster=throwing_row.throwing_brokers,
        overrides=throwing_row.RESTLESS,
        told=throwing_row.TOLD,
    ),
)
ROWS: dict[int, Row] = {row.number: row for row in _ALL}
