-- 0004: presets know the family of their published config.json, so that a pasted one can be recognised, and say what of
-- their size the dimensions do not show (a vision tower, state-space layers).
ALTER TABLE models ADD COLUMN family TEXT NOT NULL DEFAULT '';
ALTER TABLE models ADD COLUMN uncounted TEXT NOT NULL DEFAULT '';
