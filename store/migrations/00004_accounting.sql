-- Up to when the accounting of a cluster was asked for its jobs.

ALTER TABLE clusters ADD COLUMN accounted BIGINT;
