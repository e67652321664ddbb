"""Where a follower cuts its log (traps 1 and 2)."""

from broker.log.leader_epochs import EpochEntry, LeaderEpochs
from broker.replication.truncation import LeaderEpochEnd, truncation_offset


def cut(leaders, own_epochs, log_end_offset, high_watermark=0):
    own = LeaderEpochs(EpochEntry(*epoch) for epoch in own_epochs)
    return truncation_offset(
        LeaderEpochEnd(*leaders),
        lambda epoch: LeaderEpochEnd(*own.end_offset_for(epoch, log_end_offset)),
        log_end_offset,
        high_watermark,
    )


def test_trap_01_a_follower_cuts_at_the_end_of_its_epoch_and_not_at_its_high_watermark():
    assert cut(leaders=(2, 50), own_epochs=[(0, 0), (2, 40)], log_end_offset=60, high_watermark=10) == 50


def test_trap_02_an_epoch_the_follower_never_had_sends_it_to_the_end_of_the_one_before():
    assert cut(leaders=(4, 90), own_epochs=[(0, 0), (3, 40), (5, 70)], log_end_offset=100) == 70


def test_a_leader_whose_epoch_ends_earlier_decides():
    assert cut(leaders=(3, 55), own_epochs=[(0, 0), (3, 40), (5, 70)], log_end_offset=100) == 55


def test_a_leader_without_epochs_is_trusted_with_what_was_committed():
    assert cut(leaders=(-1, -1), own_epochs=[(0, 0)], log_end_offset=100, high_watermark=30) == 30


def test_a_log_is_never_cut_beyond_its_end():
    assert cut(leaders=(0, 500), own_epochs=[(0, 0)], log_end_offset=100) == 100


def test_an_epoch_above_all_of_ours_cuts_where_the_leader_ends():
    assert cut(leaders=(9, 80), own_epochs=[(0, 0)], log_end_offset=100) == 80
