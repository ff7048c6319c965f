# An empty file is an empty list.
set -eu
. "$(dirname "$0")/helpers.sh"

: >"$file"
equal '' "$(todo list)" 'the list'
printf 'open a\n' >"$file"
equal ' 1. [ ] a' "$(todo list)" 'the list with one'
