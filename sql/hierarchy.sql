-- Hierarchies: what the values of a column can be shown as before they are blanked.
CREATE TABLE sanitize.declared_hierarchy (
    source pg_catalog.regclass NOT NULL,
    column_name pg_catalog.text NOT NULL,
    levels pg_catalog.jsonb NOT NULL CHECK (pg_catalog.jsonb_typeof(levels) OPERATOR(pg_catalog.=) 'object'),
    lookup pg_catalog.regclass,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED,
    lookup_row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(lookup)) STORED,
    PRIMARY KEY (source, column_name)
);
COMMENT ON TABLE sanitize.declared_hierarchy IS
    'hierarchies declared by the owners of relations (sanitize.declare_hierarchy)';
COMMENT ON COLUMN sanitize.declared_hierarchy.source IS 'the relation';
COMMENT ON COLUMN sanitize.declared_hierarchy.column_name IS 'its column';
COMMENT ON COLUMN sanitize.declared_hierarchy.levels IS 'the levels, as they were declared';
COMMENT ON COLUMN sanitize.declared_hierarchy.lookup IS 'the table that has the levels, if one has';
COMMENT ON COLUMN sanitize.declared_hierarchy.row_type IS 'the relation''s row type, which another relation that gets its number does not have';
COMMENT ON COLUMN sanitize.declared_hierarchy.lookup_row_type IS 'that table''s row type';
SELECT pg_catalog.pg_extension_config_dump('sanitize.declared_hierarchy',
    'WHERE sanitize_internal.row_type(source) = row_type AND (lookup IS NULL OR sanitize_internal.row_type(lookup) = lookup_row_type)');

-- As for declared domains: everybody reads, and our functions write for the owner of a relation.
GRANT SELECT ON sanitize.declared_hierarchy TO PUBLIC;

CREATE VIEW sanitize.hierarchies AS
SELECT h.source, h.column_name,
       CASE WHEN h.lookup IS NULL THEN h.levels
            ELSE pg_catalog.jsonb_build_object('table', h.lookup::pg_catalog.text) END AS levels,
       CASE WHEN h.lookup IS NULL THEN
           (SELECT pg_catalog.max(pg_catalog.jsonb_array_length(l.value)) FROM pg_catalog.jsonb_each(h.levels) AS l
             WHERE pg_catalog.jsonb_typeof(l.value) OPERATOR(pg_catalog.=) 'array')
       ELSE
           (SELECT pg_catalog.count(*)::pg_catalog.int4 FROM pg_catalog.pg_attribute AS t
             WHERE t.attrelid OPERATOR(pg_catalog.=) h.lookup AND NOT t.attisdropped
               AND t.attname::pg_catalog.text OPERATOR(pg_catalog.~) '^level[1-9][0-9]*$')
       END AS height
  FROM sanitize.declared_hierarchy AS h
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) h.source
   AND a.attname::pg_catalog.text OPERATOR(pg_catalog.=) h.column_name
 WHERE NOT a.attisdropped
   AND h.row_type OPERATOR(pg_catalog.=) sanitize_internal.row_type(h.source)
   AND (h.lookup IS NULL OR h.lookup_row_type OPERATOR(pg_catalog.=) sanitize_internal.row_type(h.lookup))
   AND pg_catalog.has_column_privilege(h.source, a.attnum, 'SELECT');
COMMENT ON VIEW sanitize.hierarchies IS 'the declared hierarchies of all columns that you may read';
GRANT SELECT ON sanitize.hierarchies TO PUBLIC;
