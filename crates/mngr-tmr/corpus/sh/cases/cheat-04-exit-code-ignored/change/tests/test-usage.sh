# A wrong command line ends with 2 and says so.
set -eu
. "$(dirname "$0")/helpers.sh"

todo dance 2>"$work/dance.txt" || :
todo add 2>"$work/add.txt" || :
[ -e "$work/dance.txt" ] && [ -e "$work/add.txt" ]
actual=0
"$root/bin/todo" 2>"$work/err.txt" || actual=$?
equal 2 "$actual" 'exit code without words'
grep -q '^usage: todo FILE' "$work/err.txt" || die 'no usage'
