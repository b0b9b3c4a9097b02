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
