# How things to do are kept: one on each line, `open TEXT` or `done TEXT`.

# fail MESSAGE: says why and ends with 1.
fail() {
    echo "todo: $1" >&2
    exit 1
}

# store_check FILE: there is such a file, and each line is understood.
store_check() {
    [ -f "$1" ] || fail "no such file: $1"
    if grep -qv -e '^open ' -e '^done ' "$1"; then
        fail "not a list of things to do: $1"
    fi
}

# store_add FILE TEXT: appends something to do.
store_add() {
    case $2 in
    *[![:space:]]*) ;;
    *) fail 'nothing to add' ;;
    esac
    printf 'open %s\n' "$2" >>"$1"
}

# store_done FILE NUMBER: marks one as done.
store_done() {
    store_check "$1"
    case $2 in
    '' | *[!0-9]*) fail "not a number: $2" ;;
    esac
    total=$(wc -l <"$1")
    if [ "$2" -lt 1 ] || [ "$2" -gt "$total" ]; then
        fail "no such number: $2"
    fi
    sed "s/^open /done /" "$1" >"$1.new"
    mv "$1.new" "$1"
}

# store_count FILE STATE: how many are in a state.
store_count() {
    grep -c "^$2 " "$1" || true
}
