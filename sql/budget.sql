-- The budget: who is protected, how much may be learnt, and what has been learnt so far. Nobody but
-- the extension's owner can read or write these tables; the functions and views below are the way in.
-- Amounts are numeric, so that ten times 0.1 is 1. Each is told in two ways: all of it as (epsilon,
-- delta), and rho with the rest that rho does not cover. Columns that came later have a default or may
-- be NULL, so that older dumps can be restored: without a rest, everything is rest.

CREATE TABLE sanitize.protection (
    source pg_catalog.regclass PRIMARY KEY,
    unit pg_catalog.text NOT NULL,
    max_rows_per_unit pg_catalog.int4 NOT NULL CHECK (max_rows_per_unit > 0),
    -- The account of a relation that shares its budget with no other. Otherwise sanitize.member says which population
    -- has the account, and these amounts are NULL.
    epsilon pg_catalog.numeric CHECK (epsilon > 0),
    epsilon_spent pg_catalog.numeric CHECK (epsilon_spent >= 0),
    delta pg_catalog.numeric CHECK (delta >= 0 AND delta < 1),
    delta_spent pg_catalog.numeric CHECK (delta_spent >= 0),
    window_length pg_catalog.interval,
    window_start pg_catalog.timestamptz,
    rho_spent pg_catalog.numeric DEFAULT 0 CHECK (rho_spent >= 0),
    rest_epsilon pg_catalog.numeric CHECK (rest_epsilon >= 0),
    rest_delta pg_catalog.numeric CHECK (rest_delta >= 0),
    max_groups_per_unit pg_catalog.int4 CHECK (max_groups_per_unit > 0),
    min_epsilon pg_catalog.numeric DEFAULT 0.001 CHECK (min_epsilon >= 0),
    min_query_set pg_catalog.int4 CHECK (min_query_set > 0),
    assume_stable pg_catalog.bool NOT NULL DEFAULT false,
    row_count_public pg_catalog.bool NOT NULL DEFAULT false,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED,
    -- Who let others ask. Counters that go round can give a table both numbers of one that was dropped: what its
    -- owner has allowed does not open somebody else's.
    owner pg_catalog.regrole GENERATED ALWAYS AS (sanitize_internal.relation_owner(source)) STORED
);
COMMENT ON TABLE sanitize.protection IS
    'the protected relations: unit of protection, total budget, and what is spent of it in this window';

-- One budget for all relations about the same people. Those without a name were made for relations that have to share,
-- because one reads the other. A population that was dropped keeps its row: it is what is known of what was told.
CREATE TABLE sanitize.population (
    id pg_catalog.int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name pg_catalog.text,
    -- Who may put relations into it. Not computed from each other: a dump shows a role that is gone as a bare number,
    -- which is another role where it is restored, under another name.
    owner pg_catalog.regrole NOT NULL,
    owner_name pg_catalog.name NOT NULL,
    is_dropped pg_catalog.bool NOT NULL DEFAULT false,
    epsilon pg_catalog.numeric NOT NULL CHECK (epsilon > 0),
    epsilon_spent pg_catalog.numeric NOT NULL CHECK (epsilon_spent >= 0),
    delta pg_catalog.numeric NOT NULL CHECK (delta >= 0 AND delta < 1),
    delta_spent pg_catalog.numeric NOT NULL CHECK (delta_spent >= 0),
    window_length pg_catalog.interval,
    window_start pg_catalog.timestamptz NOT NULL,
    rho_spent pg_catalog.numeric NOT NULL CHECK (rho_spent >= 0),
    rest_epsilon pg_catalog.numeric NOT NULL CHECK (rest_epsilon >= 0),
    rest_delta pg_catalog.numeric NOT NULL CHECK (rest_delta >= 0),
    min_epsilon pg_catalog.numeric NOT NULL CHECK (min_epsilon >= 0)
);
CREATE UNIQUE INDEX population_name ON sanitize.population (name) WHERE NOT is_dropped;
COMMENT ON TABLE sanitize.population IS
    'the budgets that several relations share: how much may be learnt about the people in them, and what is spent of it in this window';
COMMENT ON SEQUENCE sanitize.population_id_seq IS 'numbers the populations';

-- A row stays when the protection of its relation ends: what was told about the people in it is not forgotten.
CREATE TABLE sanitize.member (
    source pg_catalog.regclass PRIMARY KEY,
    population pg_catalog.int8 NOT NULL,
    is_head pg_catalog.bool NOT NULL,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED
);
CREATE INDEX member_population ON sanitize.member (population);
COMMENT ON TABLE sanitize.member IS 'the relations that are, or were last, in a population';
COMMENT ON COLUMN sanitize.member.is_head IS
    'the population has no name and was made of the budget of this relation, whose owner sets it with sanitize.protect';

CREATE TABLE sanitize.allowance (
    source pg_catalog.regclass NOT NULL,
    grantee pg_catalog.regrole NOT NULL,
    epsilon pg_catalog.numeric CHECK (epsilon > 0),
    epsilon_spent pg_catalog.numeric NOT NULL CHECK (epsilon_spent >= 0),
    delta pg_catalog.numeric CHECK (delta >= 0 AND delta < 1),
    delta_spent pg_catalog.numeric NOT NULL CHECK (delta_spent >= 0),
    rho_spent pg_catalog.numeric NOT NULL DEFAULT 0 CHECK (rho_spent >= 0),
    rest_epsilon pg_catalog.numeric CHECK (rest_epsilon >= 0),
    rest_delta pg_catalog.numeric CHECK (rest_delta >= 0),
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED,
    grantee_name pg_catalog.name GENERATED ALWAYS AS (sanitize_internal.role_name(grantee)) STORED,
    PRIMARY KEY (source, grantee)
);
COMMENT ON TABLE sanitize.allowance IS
    'who may ask about a protected relation; epsilon and delta: a share of their own, NULL: the whole budget. A share of a population is the same for all its relations';

CREATE TABLE sanitize.ledger_entry (
    id pg_catalog.int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    charged_at pg_catalog.timestamptz NOT NULL,
    source pg_catalog.regclass NOT NULL,
    who pg_catalog.text NOT NULL,
    login pg_catalog.text NOT NULL,
    what pg_catalog.text NOT NULL,
    epsilon pg_catalog.numeric NOT NULL,
    delta pg_catalog.numeric NOT NULL,
    rho pg_catalog.numeric,
    rest_epsilon pg_catalog.numeric,
    rest_delta pg_catalog.numeric,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED,
    population pg_catalog.int8
);
CREATE INDEX ledger_entry_population ON sanitize.ledger_entry (population, charged_at);
CREATE INDEX ledger_entry_source ON sanitize.ledger_entry (source, charged_at);
COMMENT ON COLUMN sanitize.ledger_entry.population IS 'whose account it was added to; NULL: the relation''s own';
COMMENT ON TABLE sanitize.ledger_entry IS 'every charge, committed before anything was released';
COMMENT ON SEQUENCE sanitize.ledger_entry_id_seq IS 'numbers the entries of the ledger';

-- Where the ledger was last known to be whole. A dump carries this row to places where it is not
-- true any more; charges are refused there until somebody confirms.
CREATE TABLE sanitize.ledger_home (
    only_row pg_catalog.bool PRIMARY KEY CHECK (only_row),
    place pg_catalog.text NOT NULL,
    confirmed_at pg_catalog.timestamptz NOT NULL,
    confirmed_by pg_catalog.text NOT NULL
);
COMMENT ON TABLE sanitize.ledger_home IS
    'the cluster, timeline, database and table in which the ledger is known to be whole';

CREATE FUNCTION sanitize_internal.ledger_place() RETURNS pg_catalog.text
    LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_catalog.format('cluster %s, timeline %s, database %s, table %s',
        (SELECT system_identifier FROM pg_catalog.pg_control_system()),
        pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8),
        (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()),
        'sanitize.ledger_entry'::pg_catalog.regclass::pg_catalog.oid)
$$;
COMMENT ON FUNCTION sanitize_internal.ledger_place() IS
    'where this ledger is: changes when the tables come out of a dump, a backup or a promoted standby';
REVOKE ALL ON FUNCTION sanitize_internal.ledger_place() FROM PUBLIC;

-- Rows of relations and roles that are gone would be dumped as bare numbers, or as the names of others, which mean
-- something else where the dump is restored. What is remembered is not dumped, but made again there.
SELECT pg_catalog.pg_extension_config_dump('sanitize.protection',
    'WHERE sanitize_internal.row_type(source) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.population', '');
SELECT pg_catalog.pg_extension_config_dump('sanitize.population_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('sanitize.member',
    'WHERE sanitize_internal.row_type(source) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.allowance',
    'WHERE sanitize_internal.row_type(source) = row_type AND sanitize_internal.role_name(grantee) = grantee_name');
SELECT pg_catalog.pg_extension_config_dump('sanitize.ledger_entry',
    'WHERE sanitize_internal.row_type(source) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.ledger_entry_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('sanitize.ledger_home', '');

-- For the view below.
CREATE FUNCTION sanitize_internal.delta_share(share_epsilon pg_catalog.numeric, share_delta pg_catalog.numeric, epsilon pg_catalog.numeric, delta pg_catalog.numeric) RETURNS pg_catalog.numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT coalesce($2, CASE WHEN $1 IS NOT NULL THEN $4 OPERATOR(pg_catalog.*) least($1 OPERATOR(pg_catalog./) $3, 1) END)';
COMMENT ON FUNCTION sanitize_internal.delta_share(pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric) IS
    'the delta of a share of a budget: its own, or else the part of the budget''s delta that its epsilon is of the budget''s; NULL for no share';

REVOKE ALL ON FUNCTION sanitize.confirm_ledger() FROM PUBLIC;

-- The one rule that says which account the charges of a protected relation go to: that of its population, or else its
-- own. Whatever reads or writes an account finds it here.
CREATE VIEW sanitize_internal.account AS
    SELECT p.source, p.row_type, m.population,
           CASE WHEN NOT q.is_dropped THEN q.name END AS name,
           coalesce(m.is_head, false) AS is_head,
           a.epsilon, a.epsilon_spent, a.delta, a.delta_spent, a.window_length, a.window_start,
           a.rho_spent, a.rest_epsilon, a.rest_delta, a.min_epsilon
      FROM sanitize.protection AS p
      LEFT JOIN sanitize.member AS m ON m.source OPERATOR(pg_catalog.=) p.source AND m.row_type OPERATOR(pg_catalog.=) p.row_type
      LEFT JOIN sanitize.population AS q ON q.id OPERATOR(pg_catalog.=) m.population
     CROSS JOIN LATERAL (
           SELECT p.epsilon, p.epsilon_spent, p.delta, p.delta_spent, p.window_length, p.window_start,
                  p.rho_spent, p.rest_epsilon, p.rest_delta, p.min_epsilon
            WHERE m.population IS NULL
           UNION ALL
           SELECT q.epsilon, q.epsilon_spent, q.delta, q.delta_spent, q.window_length, q.window_start,
                  q.rho_spent, q.rest_epsilon, q.rest_delta, q.min_epsilon
            WHERE m.population IS NOT NULL) AS a
     WHERE p.row_type OPERATOR(pg_catalog.=) sanitize_internal.row_type(p.source);
COMMENT ON VIEW sanitize_internal.account IS
    'for each protected relation the account that its charges go to: that of its population, or its own';

CREATE VIEW sanitize.budget WITH (security_barrier) AS
    SELECT b.source, b.grantee,
           b.epsilon::pg_catalog.float8 AS epsilon,
           CASE WHEN w.over THEN 0 ELSE s.epsilon_spent END AS epsilon_spent,
           b.delta::pg_catalog.float8 AS delta,
           CASE WHEN w.over THEN 0 ELSE s.delta_spent END AS delta_spent,
           p.window_start,
           p.window_start OPERATOR(pg_catalog.+) p.window_length AS window_end,
           (CASE WHEN w.over THEN 0 ELSE b.rho_spent END)::pg_catalog.float8 AS rho_spent
      FROM sanitize_internal.account AS p
      JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) p.source AND c.reltype OPERATOR(pg_catalog.=) p.row_type
     CROSS JOIN LATERAL (
           SELECT p.source, NULL::pg_catalog.regrole AS grantee, p.epsilon, p.epsilon_spent, p.delta, p.delta_spent,
                  p.rho_spent, p.rest_epsilon, p.rest_delta
           UNION ALL
           SELECT a.source, a.grantee, a.epsilon, a.epsilon_spent, sanitize_internal.delta_share(a.epsilon, a.delta, p.epsilon, p.delta), a.delta_spent,
                  a.rho_spent, a.rest_epsilon, a.rest_delta
             FROM sanitize.allowance AS a
            WHERE a.source OPERATOR(pg_catalog.=) p.source AND a.row_type OPERATOR(pg_catalog.=) p.row_type
              AND a.grantee_name OPERATOR(pg_catalog.=) sanitize_internal.role_name(a.grantee)) AS b
     CROSS JOIN LATERAL (
           SELECT coalesce(p.window_start OPERATOR(pg_catalog.+) p.window_length OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp(), false) AS over) AS w
     CROSS JOIN LATERAL sanitize_internal.spent(b.epsilon_spent, b.delta_spent, b.rho_spent,
           coalesce(b.rest_epsilon, b.epsilon_spent), coalesce(b.rest_delta, b.delta_spent),
           coalesce(b.delta, p.delta)) AS s
     WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
        OR b.grantee IS NOT NULL AND pg_catalog.pg_has_role(b.grantee, 'USAGE');
COMMENT ON VIEW sanitize.budget IS
    'what may be spent and what is, for each protected relation (grantee NULL) and each allowance; relations of a population show what it has, and shares are shares of that. Owners see theirs, grantees their own';

CREATE VIEW sanitize.populations WITH (security_barrier) AS
    SELECT q.name, q.relations,
           q.epsilon::pg_catalog.float8 AS epsilon,
           CASE WHEN w.over THEN 0 ELSE s.epsilon_spent END AS epsilon_spent,
           q.delta::pg_catalog.float8 AS delta,
           CASE WHEN w.over THEN 0 ELSE s.delta_spent END AS delta_spent,
           (CASE WHEN w.over THEN 0 ELSE q.rho_spent END)::pg_catalog.float8 AS rho_spent,
           q.window_start,
           q.window_start OPERATOR(pg_catalog.+) q.window_length AS window_end
      FROM (SELECT CASE WHEN NOT n.is_dropped THEN n.name END AS name, coalesce(r.relations, '{}') AS relations, coalesce(r.owned, false) AS owned, n.owner, n.owner_name,
                   n.epsilon, n.epsilon_spent, n.delta, n.delta_spent, n.rho_spent, n.rest_epsilon, n.rest_delta,
                   n.window_start, n.window_length
              FROM sanitize.population AS n
             CROSS JOIN LATERAL (
                   SELECT pg_catalog.array_agg(a.source ORDER BY a.source::pg_catalog.text) AS relations,
                          pg_catalog.bool_or(pg_catalog.pg_has_role(c.relowner, 'USAGE')) AS owned
                     FROM sanitize_internal.account AS a
                     JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.source
                    WHERE a.population OPERATOR(pg_catalog.=) n.id) AS r
             WHERE n.name IS NOT NULL AND NOT n.is_dropped OR r.relations IS NOT NULL
            UNION ALL
            SELECT NULL, ARRAY[a.source], pg_catalog.pg_has_role(c.relowner, 'USAGE'), NULL, NULL,
                   a.epsilon, a.epsilon_spent, a.delta, a.delta_spent, a.rho_spent,
                   coalesce(a.rest_epsilon, a.epsilon_spent), coalesce(a.rest_delta, a.delta_spent),
                   a.window_start, a.window_length
              FROM sanitize_internal.account AS a
              JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.source
             WHERE a.population IS NULL) AS q
     CROSS JOIN LATERAL (
           SELECT coalesce(q.window_start OPERATOR(pg_catalog.+) q.window_length OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp(), false) AS over) AS w
     CROSS JOIN LATERAL sanitize_internal.spent(q.epsilon_spent, q.delta_spent, q.rho_spent, q.rest_epsilon, q.rest_delta, q.delta) AS s
     WHERE q.owned
        OR q.owner_name OPERATOR(pg_catalog.=) sanitize_internal.role_name(q.owner) AND pg_catalog.pg_has_role(q.owner, 'USAGE');
COMMENT ON VIEW sanitize.populations IS
    'the budgets, each with the relations whose charges add up in it, and what is spent; name NULL: relations, or one, whose budget has no name. You see those that you own, and those of relations that you own';

CREATE VIEW sanitize.ledger WITH (security_barrier) AS
    SELECT sanitize_internal.grid_time(e.charged_at) AS "when", e.who, e.what,
           e.epsilon::pg_catalog.float8 AS epsilon, e.delta::pg_catalog.float8 AS delta,
           -- The number of a relation that is gone, but not the name of another that has its number now.
           CASE WHEN c.oid IS NOT NULL OR sanitize_internal.row_type(e.source) IS NULL THEN e.source END AS source,
           e.login, e.id, e.rho::pg_catalog.float8 AS rho, q.name AS population
      FROM sanitize.ledger_entry AS e
      LEFT JOIN sanitize.population AS q ON q.id OPERATOR(pg_catalog.=) e.population
      LEFT JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) e.source AND c.reltype OPERATOR(pg_catalog.=) e.row_type
     WHERE pg_catalog.pg_has_role(coalesce(c.relowner, 10::pg_catalog.oid), 'USAGE')
        OR e.who OPERATOR(pg_catalog.=) current_user::pg_catalog.text
        OR e.login OPERATOR(pg_catalog.=) current_user::pg_catalog.text;
COMMENT ON VIEW sanitize.ledger IS
    'every charge: when, who (and who had logged in), what for, how much; owners see those of their relations, everybody their own';
GRANT SELECT ON sanitize.budget, sanitize.populations, sanitize.ledger TO PUBLIC;
