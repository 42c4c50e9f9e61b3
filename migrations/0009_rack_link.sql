-- 0009: the cards that one link domain of a rack joins, which the form factor's text used to stand for. 0 = a node's own.
ALTER TABLE gpus ADD COLUMN rack_cards INTEGER NOT NULL DEFAULT 0 CHECK (rack_cards BETWEEN 0 AND 65536);
