"""The catalog of Citus without Citus: tables of its names in pg_catalog, which say what a test wants them to."""

from contextlib import contextmanager

CATALOG = {
    "pg_dist_partition": 'logicalrelid regclass, partmethod "char"',
    "pg_dist_local_group": "groupid integer",
    "pg_dist_shard": "logicalrelid regclass, shardid bigint",
}


@contextmanager
def imitated(connection, group=0):
    """Meanwhile the database looks as if Citus were there, on a node of this group."""
    connection.execute("SET allow_system_table_mods = on")
    for name, columns in CATALOG.items():
        connection.execute(f"CREATE TABLE pg_catalog.{name} ({columns})")
        connection.execute(f"GRANT SELECT ON pg_catalog.{name} TO PUBLIC")
    connection.execute("INSERT INTO pg_dist_local_group VALUES (%s)", [group])
    connection.execute("RESET allow_system_table_mods")
    try:
        yield connection
    finally:
        connection.execute("ROLLBACK; SET allow_system_table_mods = on")
        connection.execute(f"DROP TABLE {', '.join(CATALOG)}")
        connection.execute("RESET allow_system_table_mods")
