-- 0008: how a card reaches its neighbours and its host, which names and prefixes used to stand for.
ALTER TABLE gpus ADD COLUMN through_host INTEGER NOT NULL DEFAULT 0 CHECK (through_host IN (0, 1));
ALTER TABLE gpus ADD COLUMN link_mesh INTEGER NOT NULL DEFAULT 0 CHECK (link_mesh IN (0, 1));
ALTER TABLE gpus ADD COLUMN coherent_host INTEGER NOT NULL DEFAULT 0 CHECK (coherent_host IN (0, 1));
