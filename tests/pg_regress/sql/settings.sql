-- The settings, their defaults and their limits.
LOAD 'pg_sanitize';
SELECT name, setting, unit, context FROM pg_settings WHERE name LIKE 'pg\_sanitize.%' AND name <> 'pg_sanitize.threads' ORDER BY name;
SELECT setting::int >= 1 AS at_least_one, context FROM pg_settings WHERE name = 'pg_sanitize.threads';
-- Ranges are told with their units from 17 on (settings_1); 14 lets unknown settings pass (settings_2).
SET pg_sanitize.threads = 0;
SET pg_sanitize.max_memory = 0;
SET pg_sanitize.progress = -1;
SET pg_sanitize.max_memory = '3GB';
SHOW pg_sanitize.max_memory;
RESET pg_sanitize.max_memory;
SET pg_sanitize.no_such_setting = 1;
SELECT count(*) = 0 AS every_setting_is_explained FROM pg_settings WHERE name LIKE 'pg\_sanitize.%' AND (short_desc = '' OR extra_desc = '');

-- Every object of the extension says what it is; no function claims more than it keeps.
SELECT p.oid::regprocedure FROM pg_proc p WHERE pronamespace::regnamespace::text ~ '^sanitize' AND obj_description(oid, 'pg_proc') IS NULL;
SELECT p.oid::regprocedure FROM pg_proc p WHERE pronamespace::regnamespace::text ~ '^sanitize' AND proleakproof;
SELECT p.oid::regprocedure FROM pg_proc p WHERE pronamespace::regnamespace::text ~ '^sanitize' AND prosecdef
   AND (proconfig IS NULL OR has_function_privilege('public', oid, 'EXECUTE'));
