"""Replicas: tables generated from published facts, standing in for tables that were never published."""

from driftjudge.tables.replicas.describe import Figure, describe_replica
from driftjudge.tables.replicas.generator import load_replica
from driftjudge.tables.replicas.spec import REPLICAS, load_spec

__all__ = ["REPLICAS", "Figure", "describe_replica", "load_replica", "load_spec"]
