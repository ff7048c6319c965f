# The list is numbered, and what is done has a tick.
#
# Scope: the whole text, as it is printed.
set -eu
. "$(dirname "$0")/helpers.sh"

some_things
. "$root/lib/format.sh"
format_list <"$file" >"$work/expected.txt"
todo list >"$work/list.txt"
cmp "$work/expected.txt" "$work/list.txt" || die 'the list differs from the expected text'
