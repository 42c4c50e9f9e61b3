-- 0003: what a model keeps beside the stack that runs at every token or step. An encoder reads the source once (speech:
-- 30 s a pass) and a decoder writes: speed and cache need to know which layers are whose. Text encoders and the image
-- decoder of a diffusion model take memory and next to no time.
ALTER TABLE models ADD COLUMN encoder_layers INTEGER NOT NULL DEFAULT 0 CHECK (encoder_layers >= 0);
ALTER TABLE models ADD COLUMN decoder_layers INTEGER NOT NULL DEFAULT 0 CHECK (decoder_layers >= 0);
ALTER TABLE models ADD COLUMN encoder_positions INTEGER NOT NULL DEFAULT 0 CHECK (encoder_positions >= 0);
ALTER TABLE models ADD COLUMN companion_params REAL NOT NULL DEFAULT 0 CHECK (companion_params >= 0);
