-- 0007: the width that a maker publishes its weights in, where that is not 16: what is served where nothing is stated.
ALTER TABLE models ADD COLUMN published_bits REAL NOT NULL DEFAULT 0 CHECK (published_bits >= 0);
