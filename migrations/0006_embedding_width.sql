-- 0006: a vocabulary's matrix may be narrower than the model, with a projection behind it (ALBERT, small ELECTRA, OPT-350M).
ALTER TABLE models ADD COLUMN embedding_width INTEGER NOT NULL DEFAULT 0 CHECK (embedding_width >= 0);
