# The servers that `make test` uses, of 14 to 18: make test PG="14 15 16 17 18"
PG ?= 15 18
PG_CONFIG ?= pg_config

.PHONY: help demo test test-versions test-browser test-bi fuzz soak install deb bench lint psql clean

help:
	@echo 'make demo                     build, and show on invented data what the extension does'
	@echo 'make test [PG="15 18"]        every test, on these PostgreSQL versions'
	@echo 'make test-versions            the SQL cases on PostgreSQL 14, 16 and 17'
	@echo 'make test-browser             look at privacy reports in a real browser (installs Chromium)'
	@echo 'make test-bi                  look at releases through JDBC, ODBC and Superset (installs 1.5 GB)'
	@echo 'make fuzz                     the same with fresh seeds: random calls, sqlsmith, property tests, sequences, mutants'
	@echo 'make soak                     ten times of that, and what depends on the clock: for an idle machine, over night'
	@echo 'make install [PG_CONFIG=...]  install into the server that this pg_config belongs to'
	@echo 'make deb [PG_CONFIG=...]      a Debian package for that server, in target/deb'
	@echo 'make psql                     a shell on the private server, where the demo tables are'
	@echo 'make bench                    measure, beside other programs'
	@echo 'make lint                     formatting, clippy, cargo-deny, shellcheck, ruff, house rules'
	@echo 'make clean                    stop the private servers, remove all that was built'

demo:
	@scripts/setup build 15
	@scripts/build 15
	@scripts/demo 15

test:
	@scripts/test $(PG)

test-versions:
	@scripts/versions

test-browser:
	@scripts/setup build 15 clients browser
	@scripts/build 15
	@scripts/server restart 15
	@scripts/browser 15

test-bi:
	@scripts/setup build 15 clients bi
	@scripts/build 15
	@scripts/server restart 15
	@scripts/bi 15

fuzz:
	@scripts/setup build 15 clients fuzz mutants
	@scripts/build 15
	@scripts/server restart 15
	@scripts/fresh 15

soak:
	@scripts/setup build 15 clients fuzz mutants
	@scripts/build 15
	@scripts/server restart 15
	@scripts/fresh 15 soak

install:
	@scripts/install $(PG_CONFIG)

deb:
	@scripts/deb $(PG_CONFIG)

psql:
	@scripts/server start 15
	@scripts/server psql 15 --dbname=pg_sanitize_demo

bench:
	@scripts/bench

lint:
	@scripts/lint

clean:
	@scripts/clean
