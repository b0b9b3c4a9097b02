-- Sharded releases, on a shard: the coordinator inserts what is to be done, through a foreign table. Nothing stays
-- here: the trigger does the work and drops the row, and the constraint refuses rows that no trigger has seen.
CREATE TABLE sanitize_internal.shard_work (
    task pg_catalog.jsonb NOT NULL,
    rows sanitize.bag,
    CONSTRAINT shard_work_is_done CHECK (false)
);
COMMENT ON TABLE sanitize_internal.shard_work IS
    'work for this server as a shard of a sharded release: what sanitize.publish on the coordinator inserts is done at once, with the rights of the role that inserts, and not kept';

REVOKE EXECUTE ON FUNCTION sanitize_internal.do_shard_work() FROM PUBLIC;

CREATE TRIGGER do_shard_work BEFORE INSERT ON sanitize_internal.shard_work
    FOR EACH ROW EXECUTE FUNCTION sanitize_internal.do_shard_work();
COMMENT ON TRIGGER do_shard_work ON sanitize_internal.shard_work IS 'does the work';
ALTER TABLE sanitize_internal.shard_work ENABLE ALWAYS TRIGGER do_shard_work;
-- The trigger does nothing that a role could not do by statements of its own.
GRANT INSERT ON sanitize_internal.shard_work TO PUBLIC;
