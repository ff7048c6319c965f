# An empty text is refused, and nothing is written.
set -eu
. "$(dirname "$0")/helpers.sh"

set +e
todo add '   ' 2>"$work/said.txt"
grep -q 'nothing to add' "$work/said.txt"
[ ! -e "$file" ]
echo "ended with $?"
