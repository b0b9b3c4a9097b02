# Sourced by scripts/build, scripts/install and scripts/deb: the extension by cargo alone, from source to server.
# shellcheck shell=bash

# major_of PG_CONFIG: the major version of the server that it belongs to.
major_of() { "$1" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/'; }

# build_library PG_CONFIG PROFILE: the bindings are made for the headers of that very server.
build_library() {
    PGRX_PG_CONFIG_PATH=$1 cargo build --lib --package pg_sanitize --profile "$2" \
        --no-default-features --features "pg$(major_of "$1")"
}

# package PROFILE FOLDER: all that a server needs, into the folder, under the names that it will have.
package() {
    local profile=$1 folder=$2 built version
    built=$(cargo metadata --no-deps --format-version 1 | sed -E 's/.*"target_directory":"([^"]*)".*/\1/')/$profile
    version=$(cargo pkgid --package pg_sanitize | sed 's/.*[#@]//')
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$built/libpg_sanitize.so" "$folder/pg_sanitize.so"
    sed "s/@CARGO_VERSION@/$version/" pg_sanitize.control >"$folder/pg_sanitize.control"
    scripts/sql >"$folder/pg_sanitize--$version.sql"
    # From one version to the next.
    cp sql/pg_sanitize--*--*.sql "$folder"
}

# install_package PG_CONFIG FOLDER: by install(1), which replaces a file that is there: to overwrite a
# library is to crash the sessions that have loaded it. As root only where it must be.
install_package() {
    local libraries extensions rights=()
    libraries=$("$1" --pkglibdir)
    extensions=$("$1" --sharedir)/extension
    if [[ ! -w $libraries || ! -w $extensions ]]; then rights=(as_root); fi
    "${rights[@]}" install -v -m 755 "$2"/*.so "$libraries"
    "${rights[@]}" install -v -m 644 "$2"/*.control "$2"/*.sql "$extensions"
}
