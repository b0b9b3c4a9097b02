-- Releases: tables that hold what a method made of a source, and the record of how they were made. Only the
-- functions below write these tables, so that nobody can record a release that was not made; the view
-- sanitize.releases is what others read.

CREATE TABLE sanitize.published (
    target pg_catalog.regclass PRIMARY KEY,
    row_type pg_catalog.regtype NOT NULL,
    source pg_catalog.regclass NOT NULL,
    method pg_catalog.text NOT NULL,
    options pg_catalog.jsonb NOT NULL,
    comment pg_catalog.text,
    guarantee pg_catalog.jsonb NOT NULL,
    rows pg_catalog.int8 NOT NULL CHECK (rows >= 0),
    suppressed_share pg_catalog.float8,
    published_at pg_catalog.timestamptz NOT NULL,
    published_by pg_catalog.text NOT NULL,
    entry pg_catalog.int8,
    source_row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED
);
COMMENT ON COLUMN sanitize.published.entry IS 'the release_entry of what the table holds now';
COMMENT ON TABLE sanitize.published IS 'the releases that sanitize.publish made and that are not retired';
COMMENT ON COLUMN sanitize.published.row_type IS
    'the row type of the target: another table that gets its number one day has another one';

-- Retiring a release does not take back what was seen of it.
CREATE TABLE sanitize.release_entry (
    id pg_catalog.int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    published_at pg_catalog.timestamptz NOT NULL,
    source pg_catalog.regclass NOT NULL,
    target pg_catalog.text NOT NULL,
    method pg_catalog.text NOT NULL,
    kind pg_catalog.text NOT NULL,
    epsilon pg_catalog.numeric CHECK (epsilon >= 0),
    published_by pg_catalog.text NOT NULL,
    draft pg_catalog.bool NOT NULL DEFAULT false,
    delta pg_catalog.numeric CHECK (delta >= 0),
    unit pg_catalog.text,
    neighbours pg_catalog.text,
    unit_column pg_catalog.text,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED
);
COMMENT ON COLUMN sanitize.release_entry.draft IS 'nobody but the owner could read it: it does not count';
CREATE INDEX release_entry_source ON sanitize.release_entry (source);
COMMENT ON TABLE sanitize.release_entry IS
    'every publish and every refresh there was, of retired releases too: what composition has to count';
COMMENT ON COLUMN sanitize.release_entry.neighbours IS
    'with the unit: whom epsilon and delta are about; NULL, as in entries of versions that did not write it down, adds up with nothing';
COMMENT ON COLUMN sanitize.release_entry.unit_column IS 'the column that tells people apart, where the unit is a person';
COMMENT ON SEQUENCE sanitize.release_entry_id_seq IS 'numbers the entries';

CREATE TABLE sanitize.sharded_release (
    target pg_catalog.regclass PRIMARY KEY,
    row_type pg_catalog.regtype NOT NULL,
    mark pg_catalog.text NOT NULL,
    generation pg_catalog.int8 CHECK (generation > 0),
    written_in pg_catalog.xid8
);
COMMENT ON COLUMN sanitize.sharded_release.written_in IS
    'the transaction that made the generation: until it has committed, the one before is what readers see';
COMMENT ON TABLE sanitize.sharded_release IS
    'the releases whose rows lie on shards: the mark in the comments of their tables there, and the generation that readers see';

-- As in the budget's tables: rows of relations that are gone would be dumped as bare numbers.
SELECT pg_catalog.pg_extension_config_dump('sanitize.published',
    'WHERE sanitize_internal.row_type(source) = source_row_type AND sanitize_internal.row_type(target) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.sharded_release',
    'WHERE sanitize_internal.row_type(target) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.release_entry',
    'WHERE sanitize_internal.row_type(source) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.release_entry_id_seq', '');

CREATE VIEW sanitize.releases WITH (security_barrier) AS
    SELECT p.target, CASE WHEN s.oid IS NOT NULL OR sanitize_internal.row_type(p.source) IS NULL THEN p.source END AS source, p.method,
           CASE WHEN seen.owner THEN p.options END AS options,
           CASE WHEN seen.owner OR seen.target THEN p.guarantee
                ELSE p.guarantee OPERATOR(pg_catalog.-) '{rows,suppressed_share}'::pg_catalog.text[] END AS guarantee,
           CASE WHEN seen.owner OR seen.target THEN p.rows END AS rows,
           CASE WHEN seen.owner OR seen.target THEN p.suppressed_share END AS suppressed_share,
           p.published_at, p.published_by,
           CASE WHEN total.covered THEN total.epsilon END AS epsilon_total,
           CASE WHEN total.covered THEN total.delta END AS delta_total
      FROM sanitize.published AS p
      JOIN pg_catalog.pg_class AS t ON t.oid OPERATOR(pg_catalog.=) p.target
       AND t.reltype OPERATOR(pg_catalog.=) p.row_type
      LEFT JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) p.source
       AND s.reltype OPERATOR(pg_catalog.=) p.source_row_type
     CROSS JOIN LATERAL (
           SELECT pg_catalog.pg_has_role(t.relowner, 'USAGE')
               OR coalesce(pg_catalog.pg_has_role(s.relowner, 'USAGE'), false) AS owner,
                  coalesce(pg_catalog.has_table_privilege(t.oid, 'SELECT'), false) AS target,
                  coalesce(pg_catalog.has_table_privilege(s.oid, 'SELECT'), false) AS source) AS seen
     -- What protects one row and what protects a person, patients and their doctors, or what hides that a row is there
     -- and what hides what is in it, does not add up; and beside a release that protects nobody no sum means anything.
     CROSS JOIN LATERAL (
           SELECT pg_catalog.sum(e.epsilon)::pg_catalog.float8 AS epsilon, pg_catalog.sum(e.delta)::pg_catalog.float8 AS delta,
                  pg_catalog.bool_and(e.kind OPERATOR(pg_catalog.=) ANY ('{dp,ldp}'::pg_catalog.text[])
                      AND e.epsilon IS NOT NULL AND e.delta IS NOT NULL AND e.unit IS NOT NULL AND e.neighbours IS NOT NULL
                      AND (e.unit OPERATOR(pg_catalog.=) 'person') OPERATOR(pg_catalog.=) (e.unit_column IS NOT NULL))
                  AND pg_catalog.min(e.unit) OPERATOR(pg_catalog.=) pg_catalog.max(e.unit)
                  AND pg_catalog.min(w.who) IS NOT DISTINCT FROM pg_catalog.max(w.who)
                  AND (pg_catalog.min(e.unit) OPERATOR(pg_catalog.=) 'person'
                       OR pg_catalog.min(e.source::pg_catalog.oid) OPERATOR(pg_catalog.=) pg_catalog.max(e.source::pg_catalog.oid))
                  AND pg_catalog.min(e.neighbours) OPERATOR(pg_catalog.=) pg_catalog.max(e.neighbours) AS covered
             FROM sanitize.release_entry AS e
             LEFT JOIN sanitize.member AS m ON m.source OPERATOR(pg_catalog.=) e.source AND m.row_type OPERATOR(pg_catalog.=) e.row_type
             LEFT JOIN sanitize.protection AS o ON o.source OPERATOR(pg_catalog.=) e.source AND o.row_type OPERATOR(pg_catalog.=) e.row_type
            -- The units of all relations of a population are the same people, whatever their columns are called.
            CROSS JOIN LATERAL (SELECT CASE WHEN m.population IS NOT NULL AND o.unit OPERATOR(pg_catalog.=) e.unit_column
                                            THEN '' ELSE e.unit_column END AS who) AS w
            WHERE (e.source OPERATOR(pg_catalog.=) p.source AND e.row_type OPERATOR(pg_catalog.=) p.source_row_type
                   OR m.population OPERATOR(pg_catalog.=) (
                      SELECT n.population FROM sanitize.member AS n
                       WHERE n.source OPERATOR(pg_catalog.=) p.source AND n.row_type OPERATOR(pg_catalog.=) p.source_row_type))
              AND NOT (e.draft AND e.kind OPERATOR(pg_catalog.<>) ALL ('{dp,ldp}'::pg_catalog.text[]))) AS total
     WHERE seen.owner OR seen.target OR seen.source;
COMMENT ON VIEW sanitize.releases IS
    'the releases that you may read, or whose source you may read: how each was made and what it guarantees; owners see the options, and epsilon_total and delta_total add up all releases of the source and of its population, if all of them protect the same: NULL if not';
GRANT SELECT ON sanitize.releases TO PUBLIC;

CREATE VIEW sanitize.progress AS SELECT * FROM sanitize_internal.publishing();
COMMENT ON VIEW sanitize.progress IS
    'publishes and refreshes that run at the moment in any connection: phase, share of its work where that is known, rows so far, seconds since the start';
GRANT SELECT ON sanitize.progress TO PUBLIC;
