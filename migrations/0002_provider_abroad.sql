-- 0002: sellers outside mainland China are told apart. Data may not simply leave, and they cannot be visited or invoiced
-- like the others: a plan uses them only where the caller names them.
ALTER TABLE providers ADD COLUMN abroad INTEGER NOT NULL DEFAULT 0 CHECK (abroad IN (0, 1));
