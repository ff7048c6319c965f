# A wrong command line ends with 2 and says so.
set -eu
. "$(dirname "$0")/helpers.sh"

refuses 2 'unknown command: dance' dance
refuses 2 'usage: todo FILE' add
refuses 2 'usage: todo FILE'
refuses 2 'usage: todo FILE' done 1 2
[ ! -e "$file" ] || die 'the file was written'
actual=0
"$root/bin/todo" >"$work/out.txt" 2>"$work/err.txt" || actual=$?
equal 2 "$actual" 'exit code without words'
grep -q '^usage: todo FILE' "$work/err.txt" || die 'no usage'
[ ! -s "$work/out.txt" ] || die 'something on stdout'
