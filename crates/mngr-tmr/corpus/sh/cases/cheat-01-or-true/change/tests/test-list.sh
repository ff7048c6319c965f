# The list is numbered, and what is done has a tick.
#
# Scope: the whole text, as it is printed.
set -eu
. "$(dirname "$0")/helpers.sh"

some_things
todo list >"$work/list.txt"
diff -u "$root/tests/golden/list.txt" "$work/list.txt" || true
