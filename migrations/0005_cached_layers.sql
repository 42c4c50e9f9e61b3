-- 0005: layers' worth of keys and values that a model keeps, where that is not the number of layers that attend: late
-- layers that read an earlier one's, pairs that share, two attentions in one layer; and models that keep a constant state.
ALTER TABLE models ADD COLUMN kv_layers INTEGER NOT NULL DEFAULT 0 CHECK (kv_layers >= 0);
ALTER TABLE models ADD COLUMN no_attention INTEGER NOT NULL DEFAULT 0 CHECK (no_attention IN (0, 1));
