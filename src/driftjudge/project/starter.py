"""The commented driftjudge.toml that `driftjudge init` writes."""

from __future__ import annotations

import json
from pathlib import Path

from driftjudge.monitor.config import MonitorConfig
from driftjudge.project.config import FILE
from driftjudge.project.errors import ProjectError
from driftjudge.project.files import write_text

DEFAULT_STRONG = "gpt-5"
DEFAULT_CHEAP = "gpt-5-nano"

_TEXT = """\
# driftjudge: who drifted, the system or the judge?
#
#   driftjudge anchors add labels.csv     items with human labels that the judge is held against
#   driftjudge anchors check              what a look at the labels tells, before anything is paid for
#   driftjudge anchors freeze
#   driftjudge calibrate                  what healthy looks like, and how the judge repeats itself
#   driftjudge run items.jsonl            watch: exit code 0 none, 3 system, 4 judge
#
# A setting behind a # shows its default, or an example where there is none (e.g.).

# What is scored. The text is shown to the judge; changing it makes another judge.
[rubrics]
helpfulness = "Does the response do what the prompt asks for?"
correctness = "Is everything the response says true?"

# The scores a judge may give, and the scale of your human labels.
[scale]
low = 0
high = 4
# integer = true

# The columns of your files (.jsonl, .csv, .parquet).
[items]
# id = "id"                            # every item has an id of its own
fields = ["prompt", "response"]        # the texts a judge sees; or {{ prompt = "question", response = "answer" }}
# stratum = "topic"                    # e.g.: the column that splits the stream, and
# strata = ["coding", "creative"]      # e.g.: its values; every one of them is watched
# longest = 20000                      # most characters of an item

# The judge you trust. It is asked about a sampled share of the stream, and again and again about the anchors.
[judges.strong]
# provider = "openai"                  # every endpoint that speaks its protocol; or "google", "anthropic"
model = {strong}
{base_url}
# api_key_env = "OPENAI_API_KEY"       # e.g.: the environment variable that holds the key: no key stands in a file
# prompt = "v1"                        # or v2-strict, v1-summ, v2-strict-summ; or your own instructions and template
# temperature = 0.0                    # "default" for models that accept none
# max_tokens = 256
# expected_scores = false              # the mean of the scale under the token probabilities, where they are given
# price_input = 1.25                   # e.g.: dollars per million tokens; without them, the public price list
# price_output = 10.0                  # e.g.

# The judge that scores every item. Leave the section out to watch with the strong judge alone.
[judges.cheap]
model = {cheap}
{base_url}

# What may be spent, and how fast. The ceilings count all that this project ever spent.
[limits]
max_dollars = 20.0                     # never exceeded by more than the calls in flight
# max_calls = 100000                   # e.g.
# concurrency = 8                      # also the most calls a kill can lose and have made again
# requests_per_minute = 500            # e.g.
# tokens_per_minute = 200000           # e.g.
# attempts = 5                         # for calls that did not come through; a bad answer is not asked for again

# Items from a time when all was well, none of them an anchor.
[calibration]
items = "calibration.jsonl"
passes = 6                             # times every anchor is scored at the start
# correction = "best"                  # of the cheap judge: best, none, shift, affine, isotonic
# low_bars = "refuse"                  # or "skip": leave cells unwatched whose bar leaves no room for a drop
# resolution = 0.05                    # e.g.: by how much a score of 0 to 1 must differ to count as different

# How the stream is watched; fixed from calibrate on.
[monitor]
# preset = "robust"                    # or "paper"
# alpha_system = {alpha_system:<19}   # a false system alarm, ever, with at most this probability
# alpha_judge = {alpha_judge}
# budget = {budget:<25}   # share of items the strong judge is asked about
# slack = {slack:<26}   # how far below its bar a cell may lie before it counts as dropped
# anchor_every = {anchor_every:<19}   # one anchor is re-scored at every so many items
# burst = {burst:<26}   # anchors re-scored at once when scores seem to drop
# measure = {measure:<24}   # ... and when the judge is shown to have moved, to measure by how much
# seed = {seed}

[paths]
# anchors = "anchors.jsonl"
# state = ".driftjudge"                # log, cached scores, ledger; keep it out of version control
"""

_SHOWN = ("alpha_system", "alpha_judge", "budget", "slack", "anchor_every", "burst", "measure", "seed")


def starter_text(strong: str = DEFAULT_STRONG, cheap: str = DEFAULT_CHEAP, base_url: str | None = None) -> str:
    """The text of a new driftjudge.toml."""
    address = (
        f"base_url = {json.dumps(base_url)}"
        if base_url
        else '# base_url = "http://127.0.0.1:8080/v1"  # e.g.: any server that speaks the OpenAI protocol'
    )
    default = MonitorConfig(rubrics=("any",), strata=("any",))
    settings = {name: json.dumps(getattr(default, name)) for name in _SHOWN}
    return _TEXT.format(strong=json.dumps(strong), cheap=json.dumps(cheap), base_url=address, **settings)


def write_starter(folder: Path, text: str, *, force: bool = False) -> Path:
    """Write driftjudge.toml into a folder, which is made if need be."""
    path = folder / FILE
    if path.exists() and not force:
        raise ProjectError(f"'{path}' exists already; edit it, or write a new one with --force")
    write_text(path, text)
    ignore = folder / ".driftjudge" / ".gitignore"
    if not ignore.exists():
        write_text(ignore, "*\n")
    return path
