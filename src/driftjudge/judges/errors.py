"""The errors of the judges. Every message is one sentence that says what was wrong and what to do; none holds a key."""

from __future__ import annotations


class JudgeError(ValueError):
    """Root of the family: a mistake to mend before more calls are made."""


class SettingsError(JudgeError):
    """A judge's settings that cannot work."""


class PromptError(JudgeError):
    """An unknown prompt version, or a template whose fields do not fit."""


class RubricError(JudgeError):
    """Rubrics or a scale that no structured answer can carry."""


class MissingKeyError(SettingsError):
    """The environment variable that should hold the API key is empty."""


class MissingExtraError(SettingsError):
    """The provider's client is not installed."""


class ItemError(JudgeError):
    """An item that this judge cannot be asked about: a text is missing, or it is too long."""


class EndpointError(JudgeError):
    """The endpoint refuses this judge altogether: wrong key, unknown model, no credit, a setting it does not know.

    It says nothing about any item. Every further call would end the same way, so a run stops here; a service that
    lives on treats the judge as unavailable.
    """

    billed = False
    """True where the refusal came with an answer that has to be paid for."""


class BudgetError(JudgeError):
    """The ceiling in dollars or calls leaves no room for the next call."""


class CacheError(JudgeError):
    """The file of cached scores cannot be used."""
