# shellcheck shell=sh
# Every test begins with this: an empty list, the program as `todo`, and words to run and check it.
#
# What a test prints is a transcript: `$ ` and a command, its output, `? ` and its exit code.
set -u
TODO_FILE=$(mktemp)
export TODO_FILE
trap 'rm -f "$TODO_FILE"' EXIT

todo() {
    sh ./todo "$@"
}

fail() {
    echo "FAILED: $*"
    exit 1
}

# run COMMAND...: sets $printed and $status.
run() {
    status=0
    printed=$("$@" 2>&1) || status=$?
    printf '$ %s\n' "$*"
    while [ -n "$printed" ] && IFS= read -r line; do
        printf '  %s\n' "$line"
    done <<END
$printed
END
    echo "? $status"
}

# ok COMMAND...: it succeeds.
ok() {
    run "$@"
    [ "$status" -eq 0 ] || fail "it should succeed"
}

# expect TEXT COMMAND...: it succeeds and prints exactly this.
expect() {
    expected=$1
    shift
    ok "$@"
    [ "$printed" = "$expected" ] || fail "it should print: $expected"
}

# refuse COMMAND...: it fails, and says why.
refuse() {
    run "$@"
    [ "$status" -ne 0 ] || fail "it should fail"
    [ -n "$printed" ] || fail "it should say why"
}
