from broker.common.troubles import Troubles


def test_the_same_trouble_is_news_once():
    troubles = Troubles()
    assert [troubles.is_news("a", "slow", now_ms) for now_ms in (0, 1, 9_999)] == [True, False, False]
    assert troubles.is_news("b", "slow", 1)


def test_another_reason_is_news_and_so_is_the_old_one_after_all_was_well():
    troubles = Troubles()
    assert troubles.is_news("a", "slow", 0)
    assert troubles.is_news("a", "broken", 1)
    troubles.is_over("a")
    assert len(troubles) == 0
    assert troubles.is_news("a", "broken", 2)


def test_what_passes_by_itself_is_no_news():
    troubles = Troubles()
    news = [troubles.is_news("a", "moving", now_ms, patience_ms=100) for now_ms in (0, 50, 99, 100, 101)]
    assert news == [False, False, False, True, False]
