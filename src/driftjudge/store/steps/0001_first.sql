-- Everything is kept per monitor. {id}, {bytes}, {float} and {clustered} differ between SQLite and Postgres.

CREATE TABLE monitors (
  id {id},
  name TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  config TEXT NOT NULL,
  settings TEXT NOT NULL,
  founding TEXT,
  anchors_draft TEXT,
  created_at {float} NOT NULL,
  last_item_at {float},
  summary TEXT
);

CREATE TABLE leases (
  monitor_id BIGINT PRIMARY KEY REFERENCES monitors (id),
  owner TEXT NOT NULL,
  address TEXT NOT NULL,
  token BIGINT NOT NULL,
  expires_at {float} NOT NULL
);

-- The log. State is a fold over it.
CREATE TABLE events (
  monitor_id BIGINT NOT NULL REFERENCES monitors (id),
  seq BIGINT NOT NULL,
  body TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  at {float} NOT NULL,
  PRIMARY KEY (monitor_id, seq)
){clustered};

-- A cache of the fold up to seq.
CREATE TABLE snapshots (
  monitor_id BIGINT PRIMARY KEY REFERENCES monitors (id),
  seq BIGINT NOT NULL,
  checksum TEXT NOT NULL,
  state {bytes} NOT NULL,
  at {float} NOT NULL
);

-- Every accepted item, for ever: the same id is recognised however late it comes again.
CREATE TABLE items (
  monitor_id BIGINT NOT NULL REFERENCES monitors (id),
  item_id TEXT NOT NULL,
  number BIGINT NOT NULL,
  body_hash {bytes} NOT NULL,
  stratum TEXT NOT NULL,
  position BIGINT,
  asked INTEGER,
  anchors TEXT,
  cheap TEXT,
  strong_hash {bytes},
  PRIMARY KEY (monitor_id, item_id)
){clustered};
CREATE INDEX items_waiting ON items (monitor_id, number) WHERE position IS NULL;

-- Texts of stream items go with age; those of anchors and calibration items stay with their set.
CREATE TABLE payloads (
  monitor_id BIGINT NOT NULL REFERENCES monitors (id),
  role TEXT NOT NULL,
  subject TEXT NOT NULL,
  stratum TEXT NOT NULL,
  fields TEXT NOT NULL,
  needed INTEGER NOT NULL,
  at {float} NOT NULL,
  PRIMARY KEY (monitor_id, role, subject)
){clustered};
CREATE INDEX payloads_by_age ON payloads (at) WHERE needed = 0;

-- What the judges are to score before a monitor starts or is re-anchored.
CREATE TABLE setup_calls (
  monitor_id BIGINT NOT NULL REFERENCES monitors (id),
  role TEXT NOT NULL,
  pass INTEGER NOT NULL,
  place INTEGER NOT NULL,
  subject TEXT NOT NULL,
  stratum TEXT NOT NULL,
  scores TEXT,
  PRIMARY KEY (monitor_id, role, pass, place)
){clustered};

CREATE TABLE trace (
  monitor_id BIGINT NOT NULL REFERENCES monitors (id),
  position BIGINT NOT NULL,
  log_e_system {float} NOT NULL,
  log_e_judge {float},
  strong_calls BIGINT NOT NULL,
  anchor_calls BIGINT NOT NULL,
  at {float} NOT NULL,
  PRIMARY KEY (monitor_id, position)
){clustered};

CREATE TABLE rescores (
  monitor_id BIGINT NOT NULL REFERENCES monitors (id),
  anchor_id TEXT NOT NULL,
  epoch BIGINT NOT NULL,
  count BIGINT NOT NULL,
  unscored BIGINT NOT NULL,
  totals TEXT NOT NULL,
  last TEXT,
  at {float} NOT NULL,
  PRIMARY KEY (monitor_id, anchor_id)
){clustered};

CREATE TABLE spending (
  monitor_id BIGINT NOT NULL REFERENCES monitors (id),
  day TEXT NOT NULL,
  role TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  answers BIGINT NOT NULL,
  unscored BIGINT NOT NULL,
  calls BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  dollars {float} NOT NULL,
  unpriced BIGINT NOT NULL,
  PRIMARY KEY (monitor_id, day, role, fingerprint)
){clustered};

CREATE TABLE alarms (
  id {id},
  monitor_id BIGINT NOT NULL REFERENCES monitors (id),
  epoch BIGINT NOT NULL,
  dedup_key TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  verdict TEXT NOT NULL,
  story TEXT NOT NULL,
  opened_at {float} NOT NULL,
  acknowledged_at {float},
  closed_at {float}
);
CREATE INDEX alarms_by_monitor ON alarms (monitor_id, id);

CREATE TABLE conditions (
  id {id},
  monitor_id BIGINT NOT NULL REFERENCES monitors (id),
  kind TEXT NOT NULL,
  dedup_key TEXT NOT NULL,
  detail TEXT NOT NULL,
  opened_at {float} NOT NULL,
  closed_at {float}
);
CREATE UNIQUE INDEX conditions_open ON conditions (monitor_id, kind) WHERE closed_at IS NULL;

-- Alerts to be sent: written with the change they tell of, delivered at least once to every sink.
CREATE TABLE outbox (
  id {id},
  monitor TEXT NOT NULL,
  dedup_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  at {float} NOT NULL
);

CREATE TABLE deliveries (
  outbox_id BIGINT NOT NULL REFERENCES outbox (id),
  sink TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt_at {float} NOT NULL,
  accepted_at {float},
  last_error TEXT NOT NULL,
  PRIMARY KEY (outbox_id, sink)
){clustered};
CREATE INDEX deliveries_due ON deliveries (sink, next_attempt_at) WHERE accepted_at IS NULL;

CREATE TABLE idempotency (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL,
  answer TEXT NOT NULL,
  at {float} NOT NULL,
  PRIMARY KEY (scope, key)
){clustered};
CREATE INDEX idempotency_by_age ON idempotency (at);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  hash {bytes} NOT NULL,
  roles TEXT NOT NULL,
  monitors TEXT,
  created_at {float} NOT NULL,
  revoked_at {float}
);

CREATE TABLE audit (
  id {id},
  at {float} NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  monitor TEXT NOT NULL,
  detail TEXT NOT NULL
);
