"""Score tables: the schema, files in three forms, and the replicas that ship with the package."""

from driftjudge.tables.columns import Columns
from driftjudge.tables.errors import TableError
from driftjudge.tables.reading import read_table
from driftjudge.tables.replicas import REPLICAS, Figure, describe_replica, load_replica
from driftjudge.tables.schema import ScoreTable
from driftjudge.tables.writing import write_table

__all__ = [
    "REPLICAS",
    "Columns",
    "Figure",
    "ScoreTable",
    "TableError",
    "describe_replica",
    "load_replica",
    "read_table",
    "write_table",
]
