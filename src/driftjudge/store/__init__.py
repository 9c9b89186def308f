"""What is durable: an append-only log of events per monitor, and what is kept beside it in the same transactions."""

from __future__ import annotations

from driftjudge.store.engine import Store, open_store
from driftjudge.store.log import EventLog, Logged, create_log, open_log

__all__ = ["EventLog", "Logged", "Store", "create_log", "open_log", "open_store"]
