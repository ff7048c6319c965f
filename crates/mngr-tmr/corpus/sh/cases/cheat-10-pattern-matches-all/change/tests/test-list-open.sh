# With --open only what is left is shown, under its own number.
set -eu
. "$(dirname "$0")/helpers.sh"

some_things
todo list --open | grep -q '.*' || die 'the open ones'
printf 'done all of it\n' >"$file"
equal '' "$(todo list --open)" 'nothing left'
