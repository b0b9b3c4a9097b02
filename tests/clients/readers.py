"""The readers of protected relations, as an administrator sees them."""

PIDS = """SELECT pid FROM pg_stat_activity
    WHERE backend_type = 'pg_sanitize reader' AND datname = current_database() ORDER BY pid"""


def readers(admin):
    """The processes of this database's readers."""
    return [pid for (pid,) in admin.execute(PIDS)]


def at_work(admin, source):
    """How many readers hold a lock on the relation: those whose transaction reads it."""
    query = """SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE backend_type = 'pg_sanitize reader' AND relation = %s::regclass"""
    return admin.execute(query, [source]).fetchone()[0]
