"""Items and scores, as they travel."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from driftjudge.service.values import MOST_ITEMS
from driftjudge.service.wire.reading import VerdictShape
from driftjudge.service.wire.shapes import Given, Id, Line, Name, Scores, Taken, Texts


class NewItem(Taken):
    """The next item of the stream: with cheap scores you made, or with texts for the configured cheap judge."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"id": "i-1001", "stratum": "coding", "cheap": [0.75]},
                {"id": "i-1002", "stratum": "coding", "texts": {"prompt": "2 + 2?", "response": "4"}},
            ]
        }
    )

    id: Id
    stratum: Name
    cheap: Scores | None = None
    strong: Scores | None = Field(
        default=None,
        description="The strong judge's scores if you have them anyway; used only where the coin asks for them.",
    )
    texts: Texts | None = None

    @model_validator(mode="after")
    def _has_something_to_go_by(self) -> NewItem:
        if self.cheap is None and self.texts is None:
            raise ValueError("an item needs cheap scores or texts to be judged")
        return self


class NewItems(Taken):
    """Items in the order of time."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"items": [{"id": "i-1", "stratum": "coding", "cheap": [0.75]}]}]}
    )

    items: Annotated[list[NewItem], Field(min_length=1, max_length=MOST_ITEMS)]


class ItemShape(Given):
    """What became of an item, and what is wanted because of it."""

    id: str
    number: int = Field(description="Order of acceptance in this monitor, from 1.")
    position: int | None = Field(
        default=None, description="Place in the stream; absent while it waits for the cheap judge."
    )
    strong: bool | None = Field(default=None, description="The strong judge's scores are wanted.")
    anchors: list[str] = Field(description="Anchors to be re-scored by the strong judge.")


class ItemsShape(Given):
    """The same for a batch, in its order."""

    items: list[ItemShape]


class NewScore(Taken):
    """The answer of your strong judge on an item that was asked for."""

    id: Id
    scores: Scores
    fingerprint: Line = Field(default="", description="Which judge it was.")


class NewScores(Taken):
    """Strong scores of items that were asked for."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"scores": [{"id": "i-1001", "scores": [0.5]}]}]})

    scores: Annotated[list[NewScore], Field(min_length=1, max_length=MOST_ITEMS)]


class NewRescore(NewScore):
    """The answer of your strong judge on an anchor that was asked for."""

    answer_id: Id | None = Field(default=None, description="Makes it idempotent: an answer id is taken once.")


class NewRescores(Taken):
    """Re-scores of anchors that were asked for."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "scores": [
                        {"id": "a1", "scores": [0.75], "answer_id": "a1-17"},
                        {"id": "a2", "scores": {"failure": "refusal"}, "answer_id": "a2-18"},
                    ]
                }
            ]
        }
    )

    scores: Annotated[list[NewRescore], Field(min_length=1, max_length=MOST_ITEMS)]


class RecordedShape(Given):
    """What became of recorded scores."""

    taken: int
    duplicates: int
    verdict: VerdictShape
    anchors: list[str] = Field(description="Anchors still to be re-scored; a burst can follow any record.")


class WantedShape(Given):
    """What the monitor waits for, oldest first."""

    items: list[str]
    anchors: list[str]
