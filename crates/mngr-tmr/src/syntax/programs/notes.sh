#!/bin/sh
# Notes in a file, one on each line.
set -eu
LIMIT=3
FILE=$1
shift

# fail TEXT: ends with an error.
fail() {
    status=$?
    echo "notes: $1 ($status)" >&2
    exit 2
}

count() { if [ -f "$FILE" ]; then grep -c . "$FILE" || :; else echo 0; fi; }

add() (
    if [ "$(count)" -ge "$LIMIT" ] && [ -z "${NO_LIMIT-}" ]; then
        fail "no room for $1"
    fi
    printf '%s\n' "$1" \
        >>"$FILE"
    count
)

list() {
    number=0
    while read -r note; do
        number=$((number + 1))
        echo "$number: $note"
    done <"$FILE"
}

case "$1" in
    add) add "$2" ;;
    list) list ;;
    help)
        cat <<EOF
notes FILE add TEXT
notes FILE list
EOF
        ;;
    *) fail 'what?' ;;
esac
