# An empty text is refused, and nothing is written.
set -eu
. "$(dirname "$0")/helpers.sh"

refuses 1 'nothing to add' add '   '
refuses 1 'nothing to add' add ''
refuses 1 'nothing to add' add "$(printf '\t \t')"
refuses 1 'nothing to add' add '' ' ' ''
[ ! -e "$file" ] || die 'the file was written'

some_things
before=$(cat "$file")
refuses 1 'nothing to add' add '   '
equal "$before" "$(cat "$file")" 'the list that was there'
