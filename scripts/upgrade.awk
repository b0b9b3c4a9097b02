# Compares two scripts of CREATE EXTENSION by their statements and prints what leads from the first to the
# second. Used by scripts/upgrade: awk -f scripts/upgrade.awk -v told=BY_HAND OLD NEW
#
# What is new is printed as it stands. A function of which only the body or the properties changed is
# replaced; one with other arguments or another result is dropped and made again. Functions that are gone go
# last if an aggregate that stays was made of them: until it is replaced, it needs them. Tables and types hold
# data: how they change stands in the file `told`, written by hand, and is missed here.

# text_of(S): the statement in one line, without comments, to compare by.
function text_of(s) {
    gsub(/\n[ \t]*--[^\n]*/, "", s)
    gsub(/[ \t\n]+/, " ", s)
    sub(/^ /, "", s)
    return s
}

# is_open(S): whether a text or a body that begins in S does not end there.
function is_open(s, parts) {
    gsub(/(^|\n)[ \t]*--[^\n]*/, "", s)
    parts = split(s, _, /\$\$/)
    if (parts % 2 == 0) return 1
    gsub(/\$\$[^$]*(\$[^$]+)*\$\$/, "", s)
    return gsub(/'/, "", s) % 2
}

# types_of(S): the types of the arguments that a call is given, of S = "name(a type DEFAULT x, …) …".
function types_of(s, i, c, depth, quoted, one, all) {
    for (i = index(s, "(") + 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == "'") quoted = !quoted
        if (!quoted && depth == 0 && (c == "," || c == ")")) {
            one = type_of(one)
            if (one != "") all = all (all == "" ? "" : ", ") one
            one = ""
            if (c == ")") return all
            continue
        }
        if (!quoted && c == "(") depth++
        if (!quoted && c == ")") depth--
        one = one c
    }
}

function type_of(argument, words, n) {
    sub(/ (DEFAULT|=) .*/, "", argument)
    n = split(argument, words, " ")
    return words[1] == "OUT" ? "" : words[n]
}

# object_of(TEXT): what the statement makes, as DROP would name it; "" if it makes nothing by itself.
function object_of(text, words) {
    if (text !~ /^CREATE /) return ""
    split(text, words, " ")
    if (words[2] == "FUNCTION" || words[2] == "AGGREGATE") {
        sub(/^CREATE [A-Z]+ /, "", text)
        return words[2] " " substr(text, 1, index(text, "(") - 1) "(" types_of(text) ")"
    }
    sub(/;$/, "", words[3])
    return words[2] " " words[3] (words[4] == "ON" ? " ON " words[5] : "")
}

# head_of(TEXT): name, arguments and result of a function, which cannot be replaced. The result of an aggregate
# is that of its functions.
function head_of(text) {
    if (text ~ /^CREATE AGGREGATE /) return object_of(text)
    sub(/ LANGUAGE .*/, "", text)
    return text
}

# subject_of(TEXT): the function that a COMMENT, GRANT or REVOKE is about.
function subject_of(text) {
    if (text !~ /^(COMMENT|GRANT|REVOKE) .*ON (FUNCTION|AGGREGATE) /) return ""
    sub(/^(COMMENT|GRANT|REVOKE) ([^ ]+ )*ON /, "", text)
    return substr(text, 1, index(text, ")"))
}

# is_part(OBJECT): whether an aggregate that stays was made of the function.
function is_part(object, name, aggregate) {
    name = substr(object, 1, index(object, "(") - 1)
    sub(/^FUNCTION /, "", name)
    for (aggregate in made)
        if (aggregate ~ /^AGGREGATE / && aggregate in now && index(made[aggregate], "FUNC = " name ","))
            return 1
    return 0
}

# is_told(OBJECT): whether what is written by hand makes the function: a table that changes may need it.
function is_told(object) {
    return object ~ /^FUNCTION / && index(by_hand, "CREATE " substr(object, 1, index(object, "(")))
}

function fail(what) {
    print "scripts/upgrade: " what > "/dev/stderr"
    failed = 1
}

# take(S): one statement of the file that is read.
function take(s, text, object) {
    text = text_of("\n" s)
    object = object_of(text)
    if (old) {
        before[text] = 1
        if (object != "") {
            if (!(object in made)) order[++objects] = object
            made[object] = text
        }
    } else {
        statements[++count] = s
        texts[count] = text
        object_at[count] = object
        if (object != "") now[object] = text
    }
}

BEGIN {
    while (told != "" && (getline line < told) > 0) by_hand = by_hand line "\n"
}

FNR == 1 { old = ++files == 1; statement = "" }
statement == "" && /^(--|\\|[ \t]*$)/ { next }
{
    statement = statement (statement == "" ? "" : "\n") $0
    if (/;$/ && !is_open(statement)) {
        take(statement)
        statement = ""
    }
}

END {
    for (i = 1; i <= objects; i++) {
        object = order[i]
        callable = object ~ /^(FUNCTION|AGGREGATE) /
        if (!(object in now)) {
            if (is_part(object)) drop_last = drop_last "DROP " object ";\n"
            else if (callable || object ~ /^VIEW /) drop = drop "DROP " object ";\n"
            else if (index(by_hand, substr(object, index(object, " ") + 1)) == 0)
                fail(object " is gone: say by hand what becomes of it")
        } else if (callable && head_of(made[object]) != head_of(now[object])) {
            drop = drop "DROP " object ";\n"
            again[object] = 1
        }
    }
    if (drop != "") print drop
    if (by_hand != "") print by_hand
    for (i = 1; i <= count; i++) {
        text = texts[i]
        object = object_at[i]
        if (object == "") {
            if (!(text in before) || subject_of(text) in again) print statements[i] "\n"
        } else if (is_told(object)) {
            continue
        } else if (!(object in made) || object in again) {
            print statements[i] "\n"
        } else if (!(text in before)) {
            if (object ~ /^(FUNCTION|AGGREGATE|VIEW) /) {
                sub(/^CREATE /, "CREATE OR REPLACE ", statements[i])
                print statements[i] "\n"
            } else if (index(by_hand, substr(object, index(object, " ") + 1)) == 0) {
                fail(object " has changed: say by hand how a table that is there changes")
            }
        }
    }
    if (drop_last != "") print drop_last
    exit failed
}
