-- Foreign tables.
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE foreign_people (a text, b text) SERVER files
    OPTIONS (program 'printf "1,2\n1,3\n"', format 'csv');
SELECT * FROM sanitize.mine_miis('foreign_people', 1);
SELECT * FROM sanitize.mine_miis((SELECT sanitize.row_bag(f) FROM foreign_people f), 1);
SELECT * FROM sanitize.k_mii(NULL::foreign_people, 2);
SET client_min_messages = warning;
DROP EXTENSION file_fdw CASCADE;
-- postgres_fdw asks the remote server for the bag, where the server's options name the extension. Names in
-- text[] have a collation, which must be that of a column; names in cstring[] have none.
CREATE EXTENSION postgres_fdw;
SET compute_query_id = off;
DO $$ BEGIN
    EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw
            OPTIONS (host %L, port %L, dbname %L, extensions %L)',
        split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'),
        current_database(), 'pg_sanitize');
END $$;
CREATE USER MAPPING FOR CURRENT_USER SERVER loopback;
CREATE TABLE stays_there (ward text, age int, since date);
INSERT INTO stays_there SELECT 'w' || i % 3, i % 7, DATE '2024-01-01' + i % 2 FROM generate_series(1, 500) AS i;
INSERT INTO stays_there VALUES (NULL, NULL, NULL);
CREATE FOREIGN TABLE stays_here (ward text, age int, since date) SERVER loopback OPTIONS (table_name 'stays_there');
EXPLAIN (VERBOSE, COSTS OFF)
SELECT sanitize.row_bag('[7:9]={ward,age,since}'::text[], ward, age, since) FROM stays_here;
EXPLAIN (VERBOSE, COSTS OFF)
SELECT sanitize.row_bag('[7:8]={age,since}'::cstring[], age, since) FROM stays_here;
EXPLAIN (VERBOSE, COSTS OFF)
SELECT sanitize.row_bag('[7:9]={ward,age,since}'::cstring[], ward, age, since) FROM stays_here;
-- Dates are written by the remote server, in the ISO style.
SET datestyle = iso;
SELECT sanitize.row_bag('[7:9]={ward,age,since}'::cstring[], ward, age, since)::text
     = (SELECT sanitize.row_bag(t)::text FROM stays_there AS t) AS same FROM stays_here;
RESET compute_query_id;
RESET datestyle;
DROP EXTENSION postgres_fdw CASCADE;
DROP TABLE stays_there;
