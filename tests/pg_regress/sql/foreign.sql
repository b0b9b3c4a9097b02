-- Foreign tables. (foreign_1.out is for servers that come without file_fdw.)
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE foreign_people (a text, b text) SERVER files
    OPTIONS (program 'printf "1,2\n1,3\n"', format 'csv');
SELECT * FROM sanitize.mine_miis('foreign_people', 1);
SELECT * FROM sanitize.mine_miis((SELECT sanitize.row_bag(f) FROM foreign_people f), 1);
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS file_fdw CASCADE;
