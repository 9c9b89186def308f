from __future__ import annotations

import pytest

from driftjudge.report._theme import DARK, LIGHT, Palette


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_all_text_can_be_read_on_what_it_stands_on(palette: Palette) -> None:
    pairs = [(text, palette.background) for text in (palette.ink, palette.muted, palette.system, palette.judge)]
    pairs += [
        (palette.on_pale, palette.pale),
        (palette.on_pale, palette.unwatched),
        (palette.on_strong, palette.strong),
    ]
    pairs += [(palette.muted, palette.guard)]
    assert [pair for pair in pairs if contrast(*pair) < 4.5] == []


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_both_families_lines_stand_out_in_the_guard_window_too(palette: Palette) -> None:
    assert min(contrast(colour, palette.guard) for colour in (palette.system, palette.judge)) >= 3.0
