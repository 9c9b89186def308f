"""Exhibits: what they show and how they survive the disk."""

from __future__ import annotations

import json

from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row, markdown, rate_claim


def exhibit() -> Exhibit:
    rows = (
        Row("first", {"rate": Entry(0.031, 0.03), "row": Entry("58/0/2")}),
        Row("second", {"latency": Entry(None, 498)}),
    )
    claims = (Claim("it holds", True, "1"), Claim("it does not", False, "2"))
    return Exhibit("confusion", "Title", "Table 1", "mine", True, 60, "paper", rows, claims, ("a note",), {"x": [1]})


def test_an_exhibit_survives_json() -> None:
    first = exhibit()
    assert Exhibit.from_json(json.loads(json.dumps(first.to_json()))) == first


def test_columns_keep_the_order_in_which_rows_use_them() -> None:
    assert exhibit().columns == ("rate", "row", "latency")


def test_the_page_shows_ours_with_the_papers_in_brackets_and_says_replica() -> None:
    page = markdown(exhibit())
    assert "| first | 0.03 (0.03) | 58/0/2 |  |" in page
    assert "| second |  |  | - (498) |" in page
    assert "(replica)" in page


def test_a_claim_that_fails_stands_out_on_the_page() -> None:
    assert "**does not hold**: it does not (2)" in markdown(exhibit())


def test_a_rate_claim_fails_only_when_the_excess_is_beyond_chance() -> None:
    assert rate_claim("held", 9, 60, 0.1).holds
    assert not rate_claim("held", 16, 60, 0.1).holds
