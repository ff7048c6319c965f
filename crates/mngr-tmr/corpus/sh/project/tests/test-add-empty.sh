# An empty text is refused, and nothing is written.
set -eu
. "$(dirname "$0")/helpers.sh"

refuses 1 'nothing to add' add '   '
[ ! -e "$file" ] || die 'the file was written'
