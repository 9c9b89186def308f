"""The tables as the newest migration leaves them; `steps/` makes them, and a test compares the two."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData()


def _monitor_id() -> Column[int]:
    return Column("monitor_id", BigInteger, primary_key=True, autoincrement=False)


monitors = Table(
    "monitors",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text),
    Column("state", Text),
    Column("config", Text),
    Column("settings", Text),
    Column("founding", Text),
    Column("anchors_draft", Text),
    Column("created_at", Float),
    Column("last_item_at", Float),
    Column("summary", Text),
)
leases = Table(
    "leases",
    metadata,
    _monitor_id(),
    Column("owner", Text),
    Column("address", Text),
    Column("token", BigInteger),
    Column("expires_at", Float),
)
events = Table(
    "events",
    metadata,
    _monitor_id(),
    Column("seq", BigInteger, primary_key=True),
    Column("body", Text),
    Column("fingerprint", Text),
    Column("at", Float),
)
snapshots = Table(
    "snapshots",
    metadata,
    _monitor_id(),
    Column("seq", BigInteger),
    Column("checksum", Text),
    Column("state", LargeBinary),
    Column("at", Float),
)
items = Table(
    "items",
    metadata,
    _monitor_id(),
    Column("item_id", Text, primary_key=True),
    Column("number", BigInteger),
    Column("body_hash", LargeBinary),
    Column("stratum", Text),
    Column("position", BigInteger),
    Column("asked", Integer),
    Column("anchors", Text),
    Column("cheap", Text),
    Column("strong_hash", LargeBinary),
)
payloads = Table(
    "payloads",
    metadata,
    _monitor_id(),
    Column("role", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("stratum", Text),
    Column("fields", Text),
    Column("needed", Integer),
    Column("at", Float),
)
setup_calls = Table(
    "setup_calls",
    metadata,
    _monitor_id(),
    Column("role", Text, primary_key=True),
    Column("pass", Integer, primary_key=True, key="pass_"),
    Column("place", Integer, primary_key=True),
    Column("subject", Text),
    Column("stratum", Text),
    Column("scores", Text),
)
trace = Table(
    "trace",
    metadata,
    _monitor_id(),
    Column("position", BigInteger, primary_key=True),
    Column("log_e_system", Float),
    Column("log_e_judge", Float),
    Column("strong_calls", BigInteger),
    Column("anchor_calls", BigInteger),
    Column("at", Float),
)
rescores = Table(
    "rescores",
    metadata,
    _monitor_id(),
    Column("anchor_id", Text, primary_key=True),
    Column("epoch", BigInteger),
    Column("count", BigInteger),
    Column("unscored", BigInteger),
    Column("totals", Text),
    Column("last", Text),
    Column("at", Float),
)
spending = Table(
    "spending",
    metadata,
    _monitor_id(),
    Column("day", Text, primary_key=True),
    Column("role", Text, primary_key=True),
    Column("fingerprint", Text, primary_key=True),
    Column("answers", BigInteger),
    Column("unscored", BigInteger),
    Column("calls", BigInteger),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("dollars", Float),
    Column("unpriced", BigInteger),
)
alarms = Table(
    "alarms",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("monitor_id", BigInteger),
    Column("epoch", BigInteger),
    Column("dedup_key", Text),
    Column("state", Text),
    Column("verdict", Text),
    Column("story", Text),
    Column("opened_at", Float),
    Column("acknowledged_at", Float),
    Column("closed_at", Float),
)
conditions = Table(
    "conditions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("monitor_id", BigInteger),
    Column("kind", Text),
    Column("dedup_key", Text),
    Column("detail", Text),
    Column("opened_at", Float),
    Column("closed_at", Float),
)
outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("monitor", Text),
    Column("dedup_key", Text),
    Column("kind", Text),
    Column("payload", Text),
    Column("at", Float),
)
deliveries = Table(
    "deliveries",
    metadata,
    Column("outbox_id", BigInteger, primary_key=True, autoincrement=False),
    Column("sink", Text, primary_key=True),
    Column("attempts", Integer),
    Column("next_attempt_at", Float),
    Column("accepted_at", Float),
    Column("last_error", Text),
    Column("failed_at", Float),
)
idempotency = Table(
    "idempotency",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("body", Text),
    Column("answer", Text),
    Column("at", Float),
)
api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text),
    Column("hash", LargeBinary),
    Column("roles", Text),
    Column("monitors", Text),
    Column("created_at", Float),
    Column("revoked_at", Float),
)
audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float),
    Column("actor", Text),
    Column("action", Text),
    Column("monitor", Text),
    Column("detail", Text),
)
