-- What belongs to one alarm is found by its key, and the latest refusal by its time.

CREATE INDEX outbox_by_key ON outbox (dedup_key, id);
CREATE INDEX outbox_by_age ON outbox (at);
ALTER TABLE deliveries ADD COLUMN failed_at {float};
