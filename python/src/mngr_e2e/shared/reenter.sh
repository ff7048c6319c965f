# Leads into the environment that a test has left: a shell, or with words after it a command.
# Variables whose names look secret are not set there.
[ -r "$1/env.sh" ] || { echo "the environment $1 is gone" >&2; exit 1; }
exec env -i TERM="${TERM:-dumb}" sh -c '
    root=$1
    shift
    . "$root/env.sh"
    cd "$root/project" || exit
    [ $# -gt 0 ] || set -- "$SHELL" -i
    exec "$@"' reenter "$@"
