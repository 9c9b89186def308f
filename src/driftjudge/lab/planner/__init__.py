"""Sizing a monitor by simulation on one's own scores: the paper's three-step recipe made a tool.

Pick the main family's power; provision the anchors to beat it; widen the guard until nothing spills.
"""

from driftjudge.lab.planner.confirm import Effort
from driftjudge.lab.planner.errors import PlanError
from driftjudge.lab.planner.plan import Plan
from driftjudge.lab.planner.search import make_plan
from driftjudge.lab.planner.target import Assumptions, Target
from driftjudge.lab.planner.world import World, world_of

__all__ = ["Assumptions", "Effort", "Plan", "PlanError", "Target", "World", "make_plan", "world_of"]
