# Sourced by the scripts beside it: where things are, who runs the servers, how long a step takes.
# shellcheck shell=bash
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$ROOT"

# Everything that set-up, tests and demo make outside of target/ lies in .local; `make clean` removes
# it. It may be a link (see scripts/setup), and only the path behind it is open to the servers' user.
locate() {
    LOCAL=$(readlink -f "$ROOT/.local")
    export VENV=$LOCAL/venv
}
locate

say() { printf '%s\n' "$*"; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# seconds_since T: seconds passed since T, a value of EPOCHREALTIME.
seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

STEPS=()
FAILED=0
# try NAME COMMAND…: runs the command, says how long it took, and goes on if it fails. The subshell
# stands by itself, not before `||` or after `if`, because errexit would be off inside it there.
try() {
    local name=$1 start=$EPOCHREALTIME status outcome=ok seconds
    shift
    say "==> $name"
    set +e
    (
        set -e
        "$@"
    )
    status=$?
    set -e
    if ((status)); then
        outcome=FAILED
        FAILED=1
    fi
    seconds=$(seconds_since "$start")
    say "    $outcome, $seconds s"
    STEPS+=("$(printf '%8s s  %-6s  %s' "$seconds" "$outcome" "$name")")
}
# step NAME COMMAND…: the same for what the rest depends on.
step() {
    local before=$FAILED
    FAILED=0
    try "$@"
    if ((FAILED)); then finish; fi
    FAILED=$before
}
summary() { printf '%s\n' "" "Time taken" "${STEPS[@]}"; }
# finish: ends a script of several steps.
finish() {
    summary
    exit "$FAILED"
}

# as_root COMMAND…: for what really needs it.
as_root() {
    if ((EUID == 0)); then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "root or sudo is needed for: $*"
    fi
}

# PostgreSQL refuses to run as root, so root's servers run as Debian's user postgres.
server_user() { if ((EUID == 0)); then echo postgres; else id -un; fi; }

# as_server COMMAND…: runs it as the servers' user in a bare environment. Neither PG* variables nor
# RUST_BACKTRACE (which puts backtraces into the DETAIL of errors) may reach a server.
as_server() {
    local clean=(env -i PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8)
    if ((EUID == 0)); then clean=(runuser -u postgres -- "${clean[@]}"); fi
    (cd / && exec "${clean[@]}" "$@")
}

# named_in TABLE [KEY]: values of a table of pgrx.toml, which names the servers: that of the key, or all keys.
named_in() {
    awk -v table="[$1]" -v key="${2:-}" -F ' = ' '/^\[/ { inside = $0 == table; next }
        inside && NF == 2 && (key == "" || $1 == key) { gsub(/"/, "", $2); print key == "" ? $1 : $2 }' pgrx.toml
}

# pg_config_of MAJOR: the pg_config of that private PostgreSQL.
pg_config_of() {
    local path
    path=$(named_in configs "pg$1")
    path=${path/#.local/"$LOCAL"}
    [[ -x $path ]] || die "PostgreSQL $1 is not set up: run scripts/setup build $1"
    say "$path"
}

# connect_to MAJOR [DATABASE]: points psql, pg_regress and psycopg at that private server only.
connect_to() {
    local name
    for name in "${!PG@}"; do
        case $name in PG | PG_* | PGRX_*) ;; *) unset "$name" ;; esac
    done
    PGHOST=$(readlink -f "$LOCAL/run")
    export PGHOST PGPORT=54$1 PGUSER=postgres PGDATABASE=${2:-postgres}
}
