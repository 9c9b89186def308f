from __future__ import annotations

import numpy as np

from driftjudge.monitor.queues import Draw, DrawLine, ItemLine, Memory, WaitingItem

SCORES = np.array([0.5, 0.5])


def item(name: str, position: int, *, asked: bool = True) -> WaitingItem:
    return WaitingItem(name, position, 0, SCORES, asked, 0.3)


def item_line(*items: WaitingItem) -> ItemLine:
    line = ItemLine()
    for entry in items:
        line.add(entry)
    return line


def draw_line(*anchors: int) -> DrawLine:
    line = DrawLine()
    for number, anchor in enumerate(anchors):
        line.add(Draw(number, 10 + number, anchor))
    return line


def test_an_unasked_item_waits_behind_the_oldest_outstanding_one() -> None:
    first, second = item("a", 1), item("b", 2, asked=False)
    line = item_line(first, second)
    assert line.pop_ready() is None
    assert (len(line), line.oldest_position) == (2, 1)
    line.fill(first, SCORES)
    assert [line.pop_ready(), line.pop_ready(), line.pop_ready()] == [first, second, None]
    assert line.oldest_position is None


def test_a_later_label_is_kept_until_the_earlier_one_is_in() -> None:
    first, second = item("a", 1), item("b", 2)
    line = item_line(first, second)
    line.fill(second, SCORES)
    assert line.pop_ready() is None
    assert line.wanted_ids() == ("a",)
    line.fill(first, SCORES)
    assert line.pop_ready() is first
    assert line.pop_ready() is second


def test_only_items_that_were_asked_about_and_are_open_are_wanted() -> None:
    first, second = item("a", 1), item("b", 2, asked=False)
    line = item_line(first, second)
    assert line.wanted("a") is first
    assert line.wanted("b") is None
    line.fill(first, SCORES)
    assert line.wanted("a") is None


def test_an_item_that_joins_with_its_label_is_not_wanted() -> None:
    labelled = item("a", 1)
    labelled.label = SCORES
    assert item_line(labelled).wanted_ids() == ()


def test_draws_of_one_anchor_are_answered_oldest_first() -> None:
    line = draw_line(4, 7, 4)
    first = line.wanted(4)
    assert first is not None
    assert first.number == 0
    first.scores = SCORES
    second = line.wanted(4)
    assert second is not None
    assert second.number == 2


def test_draws_leave_the_line_in_the_order_they_were_drawn() -> None:
    line = draw_line(4, 7)
    later = line.wanted(7)
    assert later is not None
    later.scores = SCORES
    assert line.pop_ready() is None
    earlier = line.wanted(4)
    assert earlier is not None
    earlier.scores = SCORES
    assert [line.pop_ready(), line.pop_ready()] == [earlier, later]


def test_a_failed_draw_is_not_wanted_again_until_it_is_asked_again() -> None:
    line = draw_line(4, 7)
    failed = next(iter(line))
    failed.again = True
    assert [draw.anchor for draw in line.outstanding()] == [7]
    assert line.ask_again() == [failed]
    assert [draw.anchor for draw in line.outstanding()] == [4, 7]
    assert line.ask_again() == []


def test_a_withdrawn_line_is_empty() -> None:
    line = draw_line(4, 7)
    assert [draw.anchor for draw in line.clear()] == [4, 7]
    assert (len(line), line.wanted(4)) == (0, None)


def test_memory_forgets_the_oldest_beyond_its_bound() -> None:
    memory = Memory(2)
    for name in "abc":
        memory.add(name)
    assert list(memory) == ["b", "c"]
    assert ["a" in memory, "b" in memory, "c" in memory] == [False, True, True]


def test_memory_knows_exactly_the_ids_it_lists_also_when_one_came_twice() -> None:
    memory = Memory(2)
    for name in "aab":
        memory.add(name)
    assert {name for name in "ab" if name in memory} == set(memory)
