# A wrong command line ends with 2 and says so.
set -eu
. "$(dirname "$0")/helpers.sh"

refuses 2 'unknown command: dance' dance
refuses 2 'usage: todo FILE' add
actual=0
"$root/bin/todo" 2>"$work/err.txt" || actual=$?
equal 2 "$actual" 'exit code without words'
grep -q '^usage: todo FILE' "$work/err.txt" || die "no usage in: $(cat "$work/err.txt")"
