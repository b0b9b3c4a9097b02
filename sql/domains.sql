-- Public domains: the values that a column may have, known without looking at its rows.
CREATE TABLE sanitize.declared_domain (
    source pg_catalog.regclass NOT NULL,
    column_name pg_catalog.text NOT NULL,
    domain_values pg_catalog.text[] NOT NULL,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED,
    PRIMARY KEY (source, column_name)
);
COMMENT ON TABLE sanitize.declared_domain IS
    'public domains declared by the owners of relations (sanitize.declare_domain)';
COMMENT ON COLUMN sanitize.declared_domain.source IS 'the relation';
COMMENT ON COLUMN sanitize.declared_domain.column_name IS 'its column';
COMMENT ON COLUMN sanitize.declared_domain.domain_values IS 'the values, as the column''s type writes them under fixed settings: dates in the ISO style, times in UTC';
COMMENT ON COLUMN sanitize.declared_domain.row_type IS 'the relation''s row type, which another relation that gets its number does not have';
SELECT pg_catalog.pg_extension_config_dump('sanitize.declared_domain', 'WHERE sanitize_internal.row_type(source) = row_type');

-- Everybody reads, and our functions write for the owner of a relation. Whoever could write here could also keep
-- others waiting: LOCK TABLE asks for no more.
GRANT SELECT ON sanitize.declared_domain TO PUBLIC;

CREATE TABLE sanitize.declared_bounds (
    source pg_catalog.regclass NOT NULL,
    column_name pg_catalog.text NOT NULL,
    low pg_catalog.text NOT NULL,
    high pg_catalog.text NOT NULL,
    bins pg_catalog.int4 NOT NULL CHECK (bins > 0),
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED,
    PRIMARY KEY (source, column_name)
);
COMMENT ON TABLE sanitize.declared_bounds IS
    'public ranges declared by the owners of relations (sanitize.declare_bounds)';
COMMENT ON COLUMN sanitize.declared_bounds.source IS 'the relation';
COMMENT ON COLUMN sanitize.declared_bounds.column_name IS 'its column';
COMMENT ON COLUMN sanitize.declared_bounds.low IS 'the smallest value, as the column''s type writes it in ISO style';
COMMENT ON COLUMN sanitize.declared_bounds.high IS 'the largest value';
COMMENT ON COLUMN sanitize.declared_bounds.bins IS 'into how many parts the range is cut where values are binned';
COMMENT ON COLUMN sanitize.declared_bounds.row_type IS 'the relation''s row type, which another relation that gets its number does not have';
SELECT pg_catalog.pg_extension_config_dump('sanitize.declared_bounds', 'WHERE sanitize_internal.row_type(source) = row_type');
GRANT SELECT ON sanitize.declared_bounds TO PUBLIC;

CREATE VIEW sanitize.domains AS
SELECT c.oid::pg_catalog.regclass AS source, a.attname::pg_catalog.text AS column_name, d.domain_values, d.origin
  FROM pg_catalog.pg_class AS c
  JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid
 CROSS JOIN LATERAL sanitize.column_domain(c.oid, a.attname::pg_catalog.text) AS d
 WHERE c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'v', 'm', 'p', 'f']::pg_catalog."char"[])
   AND n.nspname OPERATOR(pg_catalog.!~) '^pg_|^information_schema$|^sanitize(_internal)?$'
   AND a.attnum OPERATOR(pg_catalog.>) 0
   AND NOT a.attisdropped
   AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT');
COMMENT ON VIEW sanitize.domains IS 'the public domains of all columns that you may read';
GRANT SELECT ON sanitize.domains TO PUBLIC;
